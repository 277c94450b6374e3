#pragma once

#include <rocksdb/options.h>

#include <string>

namespace blocksieve::cli {

/// The table files in a database's directory that cannot be opened, as the end of a message:
/// "; unreadable: 000012.sst", or "" if there is none. RocksDB often blames the MANIFEST alone.
std::string UnreadableTables(const std::string& path, const rocksdb::Options& options);

}  // namespace blocksieve::cli
