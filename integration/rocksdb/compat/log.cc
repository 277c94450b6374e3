// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/compat/log.h"

#include <algorithm>
#include <cstdio>
#include <new>

namespace blocksieve::rocksdb_plugin {
namespace {

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

}  // namespace blocksieve::rocksdb_plugin
