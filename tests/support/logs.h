#pragma once

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <cstdarg>
#include <string>

namespace blocksieve::testing {

/// Keeps what is logged.
class MemoryLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[1024];
    std::vsnprintf(line, sizeof(line), format, arguments);
    text_ += line;
    text_ += '\n';
  }
  /// From here on logging takes no memory, up to so many bytes.
  void Reserve(size_t bytes) { text_.reserve(bytes); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// What `action` writes to stderr, by whatever means.
template <class Action>
std::string StderrOf(Action action) {
  ::testing::internal::CaptureStderr();
  action();
  return ::testing::internal::GetCapturedStderr();
}

}  // namespace blocksieve::testing
