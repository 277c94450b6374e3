// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/compat/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <new>

namespace blocksieve::rocksdb_plugin {
namespace {

class FullDiskLog final : public rocksdb::Logger {
 public:
  explicit FullDiskLog(std::string path) : path_(std::move(path)) {}
  ~FullDiskLog() override {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[4096];
    timespec now{};
    std::timespec_get(&now, TIME_UTC);
    tm local{};
    ::localtime_r(&now.tv_sec, &local);
    size_t size = std::strftime(line, sizeof(line), "%Y/%m/%d-%H:%M:%S ", &local);
    const int written = std::vsnprintf(line + size, sizeof(line) - size, format, arguments);
    size = std::min(size + static_cast<size_t>(std::max(0, written)), sizeof(line) - 2);
    if (line[size - 1] != '\n') line[size++] = '\n';
    const std::lock_guard lock(mutex_);
    Open();
    [[maybe_unused]] const ssize_t lost = ::write(descriptor_, line, size);
  }

 private:
  // Opens the file late, as the database's directory may be created after this object.
  void Open() {
    if (descriptor_ >= 0) return;
    std::rename(path_.c_str(), (path_ + ".old").c_str());
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  }

  const std::string path_;
  std::mutex mutex_;
  int descriptor_ = -1;
};

// For printf's "%.*s".
int Length(std::string_view text) noexcept {
  return static_cast<int>(std::min<size_t>(text.size(), 1 << 20));
}

thread_local int num_silent = 0;

}  // namespace

SilentLog::SilentLog() noexcept { ++num_silent; }
SilentLog::~SilentLog() { --num_silent; }

void LogLoudly(rocksdb::Logger* info_log, std::string_view message, std::string_view reason,
               std::string_view column_family) noexcept {
  constexpr auto kError = rocksdb::InfoLogLevel::ERROR_LEVEL;
  if (LogQuietly(info_log, message, reason, column_family, kError) || num_silent > 0) return;
  std::fprintf(stderr, "blocksieve: %s%.*s%s%.*s%.*s\n",
               column_family.empty() ? "" : "column family ", Length(column_family),
               column_family.data(), column_family.empty() ? "" : ": ", Length(message),
               message.data(), Length(reason), reason.data());
}

bool LogQuietly(rocksdb::Logger* info_log, std::string_view message, std::string_view reason,
                std::string_view column_family, rocksdb::InfoLogLevel level) noexcept try {
  if (info_log == nullptr) return false;
  rocksdb::Log(level, info_log, "blocksieve: %s%.*s%s%.*s%.*s",
               column_family.empty() ? "" : "column family ", Length(column_family),
               column_family.data(), column_family.empty() ? "" : ": ", Length(message),
               message.data(), Length(reason), reason.data());
  return true;
} catch (const std::bad_alloc&) {
  return false;  // the line is longer than the logger's buffer, and memory is short
}

std::shared_ptr<rocksdb::Logger> NewFullDiskLog(const std::string& database) {
  return std::make_shared<FullDiskLog>(database + "/LOG");
}

}  // namespace blocksieve::rocksdb_plugin
