#include "integration/rocksdb/compat/loud_log.h"

#include <rocksdb/env.h>

#include <algorithm>
#include <cstdio>
#include <new>

namespace blocksieve::rocksdb_plugin {

namespace {

// For printf's "%.*s".
int Length(std::string_view text) noexcept {
  return static_cast<int>(std::min<size_t>(text.size(), 1 << 20));
}

}  // namespace

void LogLoudly(rocksdb::Logger* info_log, std::string_view message,
               std::string_view reason) noexcept {
  if (info_log != nullptr) {
    try {
      rocksdb::Log(rocksdb::InfoLogLevel::ERROR_LEVEL, info_log, "blocksieve: %.*s%.*s",
                   Length(message), message.data(), Length(reason), reason.data());
      return;
    } catch (const std::bad_alloc&) {  // a line that is longer than the logger's buffer
    }
  }
  std::fprintf(stderr, "blocksieve: %.*s%.*s\n", Length(message), message.data(), Length(reason),
               reason.data());
}

}  // namespace blocksieve::rocksdb_plugin
