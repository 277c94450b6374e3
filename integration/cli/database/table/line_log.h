#pragma once

#include <rocksdb/env.h>

#include <cstdarg>
#include <cstdio>
#include <functional>
#include <string_view>
#include <utility>

namespace blocksieve::cli {

/// Passes each line that RocksDB logs on, instead of writing a file LOG.
class LineLog final : public rocksdb::Logger {
 public:
  using TakeLine = std::function<void(std::string_view line)>;
  explicit LineLog(TakeLine take = [](std::string_view) {}) : take_(std::move(take)) {}

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[1024];
    std::vsnprintf(line, sizeof(line), format, arguments);
    take_(line);
  }

 private:
  const TakeLine take_;
};

}  // namespace blocksieve::cli
