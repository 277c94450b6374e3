// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/compat/log.h"

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

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    const std::lock_guard lock(mutex_);
    // Opened late, as the database's directory may be created after this object.
    if (file_ == nullptr) {
      std::rename(path_.c_str(), (path_ + ".old").c_str());
      file_.reset(std::fopen(path_.c_str(), "ae"));
      if (file_ == nullptr) return;
    }
    const std::time_t now = std::time(nullptr);
    tm local{};
    ::localtime_r(&now, &local);
    char time[32];
    std::strftime(time, sizeof(time), "%Y/%m/%d-%H:%M:%S ", &local);
    std::fputs(time, file_.get());
    std::vfprintf(file_.get(), format, arguments);
    if (!std::string_view(format).ends_with('\n')) std::fputc('\n', file_.get());
    std::fflush(file_.get());
  }

 private:
  const std::string path_;
  std::mutex mutex_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, &std::fclose};
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
