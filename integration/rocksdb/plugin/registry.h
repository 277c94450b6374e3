#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/listener.h>

#include <memory>

namespace blocksieve::rocksdb_plugin {

/// Registers like blocksieve_rocksdb_register, unless another copy of this code in the process has
/// registered. Warns on stderr if that copy is of another version; each copy then uses only its own
/// objects. Statically linked programs need this too: RocksDB writes the names into OPTIONS files,
/// and on reading silently drops names that are not registered.
void RegisterUnlessRegistered();

/// The listener of NewListener.
std::unique_ptr<rocksdb::EventListener> MakeListener();

}  // namespace blocksieve::rocksdb_plugin
