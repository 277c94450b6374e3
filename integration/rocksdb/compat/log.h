#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/env.h>

#include <string_view>

#ifndef BLOCKSIEVE_VERSION
#define BLOCKSIEVE_VERSION "that is built into RocksDB"
#endif

namespace blocksieve::rocksdb_plugin {

/// Reports a problem that RocksDB would swallow: `message`, followed by `reason`, after the name of
/// the column family if it is known. Writes to the database's info log, or to stderr if `info_log`
/// is null. Works when memory is short.
void LogLoudly(rocksdb::Logger* info_log, std::string_view message, std::string_view reason = {},
               std::string_view column_family = {}) noexcept;

/// The same for what is no problem, or with level WARN for what works, but costs more than
/// expected: only if there is an info log. Returns whether it has written the line.
bool LogQuietly(rocksdb::Logger* info_log, std::string_view message, std::string_view reason = {},
                std::string_view column_family = {},
                rocksdb::InfoLogLevel level = rocksdb::InfoLogLevel::INFO_LEVEL) noexcept;

/// Keeps what LogLoudly says in this thread off stderr while it lives, for callers that report the
/// same problem as a status.
class SilentLog {
 public:
  SilentLog() noexcept;
  ~SilentLog();
  SilentLog(const SilentLog&) = delete;
  SilentLog& operator=(const SilentLog&) = delete;
};

}  // namespace blocksieve::rocksdb_plugin
