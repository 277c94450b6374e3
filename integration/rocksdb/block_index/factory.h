#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/customizable.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/utilities/object_registry.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/block_index.h"
#include "integration/rocksdb/block_index/adapters.h"
#include "integration/rocksdb/compat/option_type.h"

namespace blocksieve::rocksdb_plugin {

/// The options of BlockIndexOptions.
const OptionTable& BlockIndexOptionTable();

/// Registers the factory for option strings, if RocksDB has one. Returns the number of factories.
int RegisterBlockIndex(rocksdb::ObjectLibrary& library);

/// The options of the column family's block index; nothing without one of this plug-in.
std::optional<BlockIndexOptions> FindBlockIndexOptions(
    const rocksdb::ColumnFamilyOptions& column_family);

/// OK if RocksDB makes a user-defined index of the text of its option. Errors: those of RocksDB,
/// which ignores such a text in the options of a table.
rocksdb::Status CheckBlockIndexText(const std::string& value);

/// EnableIndex. Errors: those of BlockIndexBuilder::Create and of the table's options.
rocksdb::Status SetBlockIndex(const BlockIndexOptions& index,
                              rocksdb::ColumnFamilyOptions* column_family);

/// Describes the index of each file that is opened with these options of a table, in `*opened`,
/// which must outlive the options. Does nothing before RocksDB 11.2.
void DescribeBlockIndexes(OpenedBlockIndex* opened, rocksdb::BlockBasedTableOptions* table);

/// Reads the block index of a table from its file. Null without one, with the reason in `*problem`.
std::shared_ptr<const BlockIndex> ReadBlockIndex(const SstPlace& sst,
                                                 const rocksdb::Comparator* comparator,
                                                 std::string* problem);

}  // namespace blocksieve::rocksdb_plugin
