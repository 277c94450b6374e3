#pragma once

#include <rocksdb/env.h>

#include <memory>
#include <string>

namespace blocksieve::rocksdb_plugin {

/// Writes the file LOG of a database, as RocksDB does by itself; the one of before becomes LOG.old.
/// A line that cannot be written is lost. RocksDB's own log, where RocksDB checks its assumptions
/// as Debian's does, ends the process at the line after such a one: on a full disk. Thread-safe.
std::shared_ptr<rocksdb::Logger> NewFullDiskLog(const std::string& database);

}  // namespace blocksieve::rocksdb_plugin
