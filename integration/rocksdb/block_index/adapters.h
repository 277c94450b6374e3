#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <optional>

#include "integration/rocksdb/block_index/block_index.h"
#include "integration/rocksdb/compat/user_index.h"

#if BLOCKSIEVE_HAS_USER_INDEX

// RocksDB's interface of an index, by the classes of block_index.h. All throw std::bad_alloc.

namespace blocksieve::rocksdb_plugin {

std::unique_ptr<rocksdb::UserDefinedIndexBuilder> NewIndexBuilder(BlockIndexBuilder builder);

/// `index`: nullopt if it cannot be read. As primary index, reads of the file then fail.
std::unique_ptr<rocksdb::UserDefinedIndexReader> NewIndexReader(std::optional<BlockIndex> index);

/// Says what the next iterator leaves out that this thread makes by `choice`; see
/// NoteFile.
void NoteNextFile(const rocksdb::UserDefinedIndexFactory* choice, uint64_t num_blocks,
                  uint64_t data_size, std::shared_ptr<const FileBlocks> blocks);

}  // namespace blocksieve::rocksdb_plugin

#endif
