#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/rocksdb/skip_index.h"

// Maintains skip indexes in sidecars, with the database open read-only. Everything throws Failure.

namespace blocksieve::cli {

struct IndexRebuild {
  std::string database;
  std::string family = "default";
  std::vector<Column> columns;    ///< Indexed in addition to the current ones.
  uint64_t bytes_per_second = 0;  ///< 0: no limit.

  /// Limit for the index of one file, in bytes; nullopt: that of the newest indexed SST.
  std::optional<uint64_t> max_index_bytes = {};
};

/// A factory for the index of the newest indexed file of the column family, plus the
/// columns of `rebuild`, which replace those of the same name. Null without any. Throws UsageError.
std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> NewIndexFactory(
    const IndexRebuild& rebuild);

/// Reports that NewIndexFactory returned null. Throws UsageError.
[[noreturn]] void FailWithoutColumns(const std::string& database);

/// Builds an index for each SST that lacks one or whose index is damaged. If another process
/// removes SSTs meanwhile, lists them again, at most four times. `progress` as in
/// RebuildSkipIndexes; returns false if it stopped the work.
bool RebuildIndexes(const IndexRebuild& rebuild,
                    const std::function<bool(const BackfillProgress&)>& progress);

}  // namespace blocksieve::cli
