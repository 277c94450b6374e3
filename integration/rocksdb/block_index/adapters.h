#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/customizable.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "integration/rocksdb/block_index/block_index.h"
#include "integration/rocksdb/compat/user_index.h"

namespace blocksieve::rocksdb_plugin {

/// What makes iterators use block indexes and leave out blocks, as
/// ReadOptions::table_index_factory. Must outlive them. Null before RocksDB 11.2.
using BlockIndexChoice = std::unique_ptr<const rocksdb::Customizable>;

/// `blocks` must outlive the iterators; null: no block is left out. Throws std::bad_alloc.
BlockIndexChoice NewBlockIndexChoice(const BlocksOfFiles* blocks);

/// Sets the option. A null choice replaces only an earlier one of NewBlockIndexChoice.
void ChooseIndex(const rocksdb::Customizable* choice, rocksdb::ReadOptions* options);

#if BLOCKSIEVE_HAS_USER_INDEX

// RocksDB's interface of an index, by the classes of block_index.h. All throw std::bad_alloc.

/// Errors: those of BlockIndexBuilder::Create.
Result<std::unique_ptr<rocksdb::UserDefinedIndexBuilder>> NewIndexBuilder(
    const BlockIndexOptions& options, const rocksdb::Comparator* comparator);

/// `index`: nullopt if it cannot be read. As primary index, reads of the file then fail.
std::unique_ptr<rocksdb::UserDefinedIndexReader> NewIndexReader(std::optional<BlockIndex> index);

#endif

}  // namespace blocksieve::rocksdb_plugin
