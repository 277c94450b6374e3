#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/rocksdb/skip_index.h"
#include "integration/cli/database/database.h"
#include "integration/rocksdb/index/skip_index_properties.h"

// Maintains skip indexes in sidecars, with the database open read-only. Everything throws Failure.

namespace blocksieve::cli {

/// Where rows are, and what to do; the end of a message.
inline constexpr const char* kOnlyInWal =
    "only in its WAL; call DB::Flush in the program that writes them first";

bool HasRows(const GuardedDb& db, const std::string& family);

/// Whether the column family has rows, and no file with any: no index finds those in the WAL.
bool HasRowsOnlyInWal(const GuardedDb& db, const std::string& family);

/// Changes of the index of a column family. What is not given stays as it is.
struct IndexChange {
  std::vector<Column> columns = {};  ///< Indexed in addition to the current ones.
  std::optional<double> target_fpr = {};
  std::optional<uint64_t> granule_rows = {};
  std::shared_ptr<rocksdb::Logger> info_log = nullptr;  ///< For reports of the factory.
  std::optional<uint64_t> max_index_bytes = {};  ///< Of one file; nullopt: the present limit.
};

/// A factory for the present index with the change, whose columns replace those of the same name.
/// Null without any column.
std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> NewIndexFactory(
    const StoredDatabase& stored, const std::string& family, const IndexChange& change = {});

/// The skip index that new files of the column family get: as the OPTIONS file defines it, or
/// without a definition as the newest indexed file has it; nullopt without any, and where new files
/// have their columns in a block index.
std::optional<rocksdb_plugin::SkipIndexSettings> PresentIndex(const StoredDatabase& stored,
                                                              const std::string& family);

/// The definitions of the indexed columns of all files of the column family, of the newest last.
std::vector<std::string> ColumnsInFiles(const GuardedDb& db, const std::string& family);

/// Whether a row of the column family has a value in the column, as far as it can be scanned.
bool HasValues(const GuardedDb& db, rocksdb::ColumnFamilyHandle* family, const Column& column);

/// Sets the index of new files in place of another one, beside other collectors.
void SetIndex(const std::shared_ptr<rocksdb::TablePropertiesCollectorFactory>& index,
              rocksdb::ColumnFamilyOptions* options);

}  // namespace blocksieve::cli
