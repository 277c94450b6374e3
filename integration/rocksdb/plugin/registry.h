#pragma once

#include <string>

namespace rocksdb {
class ObjectLibrary;
}

namespace blocksieve::rocksdb_plugin {

/// Adds three factories to `library`: of the filter policy ("blocksieve" and
/// "blocksieve:<target_fpr>"), the skip index ("blocksieve.skip_index") and the level listener
/// ("blocksieve"). Returns their number.
int RegisterFactories(rocksdb::ObjectLibrary& library);

}  // namespace blocksieve::rocksdb_plugin

/// Called when a RocksDB starts that has this plug-in in its tree (ROCKSDB_PLUGINS=blocksieve).
/// RocksDB's generated build_version.cc declares it with C linkage.
extern "C" int blocksieve_register(rocksdb::ObjectLibrary& library, const std::string& argument);
