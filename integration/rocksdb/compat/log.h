#pragma once

#include <rocksdb/env.h>

#include <memory>
#include <string>
#include <string_view>

namespace blocksieve::rocksdb_plugin {

/// Reports what RocksDB would swallow: `message`, followed by `reason`. Writes to the database's
/// info log if there is one, else to stderr. Works when memory is short, which is one of the
/// reasons.
void LogLoudly(rocksdb::Logger* info_log, std::string_view message,
               std::string_view reason = {}) noexcept;

/// Writes the file LOG of a database, as RocksDB does by itself; the one of before becomes LOG.old.
/// A line that cannot be written is lost. RocksDB's own log, where RocksDB checks its assumptions
/// as Debian's does, ends the process at the line after such a one: on a full disk. Thread-safe.
std::shared_ptr<rocksdb::Logger> NewFullDiskLog(const std::string& database);

}  // namespace blocksieve::rocksdb_plugin
