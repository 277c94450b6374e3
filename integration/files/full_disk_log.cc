// SPDX-License-Identifier: Apache-2.0
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <string_view>
#include <utility>

#include "integration/files/files.h"

namespace blocksieve::files {
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

}  // namespace

std::shared_ptr<rocksdb::Logger> NewFullDiskLog(const std::string& database) {
  return std::make_shared<FullDiskLog>(database + "/LOG");
}

}  // namespace blocksieve::files
