#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/rocksdb/skip_index.h"

// Skip indexes of a RocksDB that nobody needs to have open for writing: they are files beside its
// SSTs. Everything throws Failure.

namespace blocksieve::cli {

struct IndexRebuild {
  std::string database;
  std::vector<Column> columns;    ///< To be indexed, too.
  uint64_t bytes_per_second = 0;  ///< 0: as fast as it can.

  /// Limit for the index of one file, in bytes; nothing: that of the newest indexed SST.
  std::optional<uint64_t> max_index_bytes = {};
};

/// Columns of values, as given by --index. Throws UsageError.
std::vector<Column> ParseColumns(const std::vector<std::string>& definitions);

/// Indexes as the newest indexed file of the default column family is indexed, with the columns of
/// `upkeep` besides; those of the same name are replaced. Null if there are none. Throws
/// UsageError.
std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> NewIndexFactory(
    const IndexRebuild& rebuild);

/// Where NewIndexFactory returns null but an index was asked for. Throws UsageError.
[[noreturn]] void FailWithoutColumns(const std::string& database);

/// Links or copies what SSTs of the database lack from `directory`. Returns how many were found.
uint64_t CopyIndexes(const std::string& database, const std::string& directory);

/// Links or copies all to `directory`.
void SaveIndexes(const std::string& database, const std::string& directory);

/// Reads the SSTs that lack an index, and gives them one. `progress` as in RebuildSkipIndexes.
/// Returns false if it ended that.
bool RebuildIndexes(const IndexRebuild& rebuild,
                    const std::function<bool(const BackfillProgress&)>& progress);

}  // namespace blocksieve::cli
