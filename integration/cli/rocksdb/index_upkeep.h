#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/rocksdb/skip_index.h"

// Skip indexes of a RocksDB that nobody needs to have open for writing: they are files beside its
// SSTs. Everything throws Failure.

namespace blocksieve::cli {

struct IndexUpkeep {
  std::string database;
  std::vector<Column> columns;    ///< To be indexed, too.
  uint64_t bytes_per_second = 0;  ///< 0: as fast as it can.

  /// Of the index of one file; nothing: as that of the newest indexed SST.
  std::optional<uint64_t> max_index_bytes = {};
};

/// By which options the newest indexed file of the column family that a database was opened with
/// was indexed; nothing if no file is.
std::optional<SkipIndexOptions> PresentIndexOptions(rocksdb::DB* db);

/// These, and the columns besides. Throws UsageError if there are none.
SkipIndexOptions WantedIndexOptions(rocksdb::DB* db, const IndexUpkeep& upkeep);

/// Links or copies what SSTs of the database lack from `directory`. Returns how many were found.
uint64_t CopyIndexes(const std::string& database, const std::string& directory);

/// Links or copies all to `directory`.
void SaveIndexes(const std::string& database, const std::string& directory);

/// What the database has now.
SkipIndexSummary ReadIndexes(const std::string& database);

/// Reads the SSTs that lack an index, and gives them one. `progress` as in RebuildSkipIndexes.
/// Returns false if it ended that.
bool RebuildIndexes(const IndexUpkeep& upkeep,
                    const std::function<bool(const BackfillProgress&)>& progress);

}  // namespace blocksieve::cli
