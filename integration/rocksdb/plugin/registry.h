#pragma once

namespace blocksieve::rocksdb_plugin {

/// Registers as blocksieve_rocksdb_register does, but leaves the names to a copy of this code that
/// has registered before. Says so on stderr if that is of another version: each then works with
/// what its own functions made. For programs that link the code statically, too: RocksDB writes the
/// names into OPTIONS files, and drops in silence those that it does not know when it reads them.
void RegisterUnlessRegistered();

}  // namespace blocksieve::rocksdb_plugin
