#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/write_batch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "integration/cli/database/database.h"
#include "integration/cli/maintenance/skip_indexes.h"

namespace blocksieve::cli {

/// Writes to standard error: "blocksieve load: TEXT".
void SayOnLoading(const std::string& text);

struct IndexSizes {
  uint64_t num_files = 0;
  uint64_t files_with_index = 0;
  uint64_t index_bytes = 0;
  /// The max_index_bytes that leaves out nothing in any file; 0: nothing was left out, or unknown.
  uint64_t needed_index_bytes = 0;
};

/// The filters of new files; without both, as the database has them, or else blocksieve's.
struct FilterChoice {
  std::optional<double> range_fpr;    ///< Of range filters.
  std::optional<std::string> policy;  ///< For a new column family, in place of blocksieve's.
};

/// A database open for loading rows into a column family, which it adds. Not thread-safe.
/// Everything throws Failure.
class RowLoader {
 public:
  /// Opens the database, or creates it in a missing or empty directory. Says what happens to the
  /// existing indexes. Also throws UsageError. REQUIRES: target.family
  RowLoader(const Target& target, const IndexChange& index, const FilterChoice& filters);

  /// Overwrites an earlier row with the same key. Rows are durable once Flush has returned.
  void Put(std::string_view key, std::string_view value);
  void Flush();

  /// The number of rows, from the first Put, that no crash can lose: all of them after Flush
  /// returned, fewer after a failure.
  uint64_t rows_durable() const;

  /// Compacts the whole database, so that all files have the indexes. Returns false if interrupted.
  /// `progress` gets the bytes written, and an estimate of the total.
  bool Compact(const std::function<void(uint64_t done, uint64_t all)>& progress);

  bool HasValues(const Column& column) const { return cli::HasValues(db_, family_, column); }

  /// The number of rows in the column family. Reads them all, unless they were just compacted.
  uint64_t CountRows() const;

  /// The indexes of all files of the column family.
  IndexSizes SizesOfIndexes() const;

 private:
  struct FlushListener;

  GuardedDb Open(const IndexChange& index, const FilterChoice& filters);
  void WriteBatch();

  const Target target_;
  const std::shared_ptr<FlushListener> flushes_;
  const GuardedDb db_;
  rocksdb::ColumnFamilyHandle* const family_;
  rocksdb::WriteBatch batch_;
  uint64_t first_sequence_ = 0;  // the last one before the first Put; each Put takes one
};

}  // namespace blocksieve::cli
