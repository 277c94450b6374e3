#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/status.h>

#include <memory>
#include <string>
#include <vector>

#include "integration/rocksdb/block_index/factory.h"

namespace blocksieve::rocksdb_plugin {

/// An open table file, with its filters and its block index as RocksDB loads them.
struct OpenedTable {
  std::unique_ptr<OpenedBlockIndex> index = std::make_unique<OpenedBlockIndex>();
  std::unique_ptr<rocksdb::SstFileReader> reader = nullptr;
  std::vector<std::string> filters = {};  ///< The bytes of each, in key order.
  std::string filter_damage = "";         ///< Why RocksDB reads the table only without filters.
};

/// Opens the table at `path`, also if its filters or its block index are damaged. RocksDB itself
/// handles footer, partitions, checksums, compression and format version. Replaces the factory of
/// block-based tables in `options`. Without filters if `reads_filters` is false, or the loaded
/// RocksDB has another interface for them. Errors: those of RocksDB.
rocksdb::Status OpenTable(rocksdb::Options options, const std::string& path, bool reads_filters,
                          OpenedTable* table);

}  // namespace blocksieve::rocksdb_plugin
