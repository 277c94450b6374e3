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

#include "blocksieve/rocksdb/enable.h"
#include "integration/rocksdb/block_index/adapters.h"
#include "integration/rocksdb/policy/enable_options.h"

namespace blocksieve::rocksdb_plugin {

/// Registers the factory for option strings, if RocksDB has one. Returns the number of factories.
int RegisterBlockIndex(rocksdb::ObjectLibrary& library);

/// The options of the column family's block index; nothing without one of this plug-in.
std::optional<EnableOptions> FindBlockIndexOptions(
    const rocksdb::ColumnFamilyOptions& column_family);

/// OK if RocksDB makes a user-defined index of the text of its option. Errors: those of RocksDB,
/// which ignores such a text in the options of a table.
rocksdb::Status CheckBlockIndexText(const std::string& value);

/// Whether new files of the column family can have the index. Errors: NotSupported before RocksDB
/// 11.2, or unless tables are block-based; InvalidArgument, naming the option that keeps RocksDB
/// from it.
rocksdb::Status CheckBlockIndex(const EnableOptions& features,
                                const rocksdb::ColumnFamilyOptions& family);

/// Sets the index and its collector of ids in the options of a column family and in those of its
/// table, or with null takes out those of blocksieve. Returns whether it took out an index.
bool SetBlockIndex(const EnableOptions* features, rocksdb::BlockBasedTableOptions* table,
                   rocksdb::ColumnFamilyOptions* family);

/// Describes the index of each file that is opened with these options of a table, in `*opened`,
/// which must outlive the options. Does nothing before RocksDB 11.2.
void DescribeBlockIndexes(OpenedBlockIndex* opened, rocksdb::BlockBasedTableOptions* table);

/// Reads the block index of a table from its file. Null without one, with the reason in `*problem`.
std::shared_ptr<const BlockIndex> ReadBlockIndex(const SstPlace& sst,
                                                 const rocksdb::Comparator* comparator,
                                                 std::string* problem);

}  // namespace blocksieve::rocksdb_plugin
