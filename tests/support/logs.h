#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <cstdarg>
#include <mutex>
#include <string>

namespace blocksieve::testing {

/// Keeps all log lines in memory.
class MemoryLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[1024];
    std::vsnprintf(line, sizeof(line), format, arguments);
    const std::lock_guard lock(mutex_);
    text_ += line;
    text_ += '\n';
  }
  /// Reserves memory, so that logging this many bytes allocates nothing.
  void Reserve(size_t bytes) { text_.reserve(bytes); }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;  // background threads log, too
  std::string text_;
};

/// The text that `action` writes to stderr, by any means.
template <class Action>
std::string CatchStderr(Action action) {
  ::testing::internal::CaptureStderr();
  action();
  return ::testing::internal::GetCapturedStderr();
}

/// How often a text has a part.
inline size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

}  // namespace blocksieve::testing
