#pragma once

#include <rocksdb/db.h>
#include <rocksdb/file_system.h>

#include <cstdint>
#include <set>
#include <string>

namespace blocksieve::rocksdb_plugin {

/// The directories in which a database may have SSTs, each once.
std::set<std::string> SstDirectories(rocksdb::DB* db);

/// Deletes sidecars without an SST. Returns their number. For processes that may write to the
/// database.
uint64_t CollectOrphans(rocksdb::FileSystem* file_system, const std::set<std::string>& directories);

}  // namespace blocksieve::rocksdb_plugin
