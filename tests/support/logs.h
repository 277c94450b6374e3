#pragma once

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <cstdarg>
#include <string>

namespace blocksieve::testing {

/// Keeps all log lines in memory.
class MemoryLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[1024];
    std::vsnprintf(line, sizeof(line), format, arguments);
    text_ += line;
    text_ += '\n';
  }
  /// Reserves memory, so that logging this many bytes allocates nothing.
  void Reserve(size_t bytes) { text_.reserve(bytes); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// The text that `action` writes to stderr, by any means.
template <class Action>
std::string CatchStderr(Action action) {
  ::testing::internal::CaptureStderr();
  action();
  return ::testing::internal::GetCapturedStderr();
}

}  // namespace blocksieve::testing
