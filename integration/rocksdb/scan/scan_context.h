#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/file_system.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "blocksieve/predicate.h"
#include "blocksieve/rocksdb/skip_index.h"

namespace blocksieve {
class ReadPruning;
}

namespace blocksieve::rocksdb_plugin {

class GranuleCounter;

/// State shared by the parts of a scan.
struct ScanContext {
  rocksdb::DB* db = nullptr;
  rocksdb::ColumnFamilyHandle* column_family = nullptr;
  const rocksdb::Comparator* comparator = nullptr;
  std::shared_ptr<rocksdb::FileSystem> file_system;  ///< For sidecars; null: do not look for them.
  Predicate predicate = Predicate::Constant(true);
  bool reverse = false;
  uint64_t limit = 0;  ///< Maximum rows; 0: no limit.
  double max_rechecked_share = 1;
  std::function<void(const ScanExplanation&)> progress;  ///< See SkipScanOptions.
  bool has_merges = true;           ///< The column family has a merge operator.
  uint32_t value_suffix_bytes = 0;  ///< See HiddenSuffixBytes.

  /// With the snapshot and total order. Parts add filters and bounds to copies.
  rocksdb::ReadOptions read_options;
  rocksdb::SequenceNumber sequence = 0;  ///< That of the snapshot.

  ScanExplanation counts;
  std::optional<ScanPruner> indexes;  ///< Counts in `counts`.
  GranuleCounter* counter = nullptr;  ///< Of a count, while it is planned.

  /// Negative if `a` comes before `b` in the scan.
  int CompareInScan(const rocksdb::Slice& a, const rocksdb::Slice& b) const {
    return reverse ? comparator->Compare(b, a) : comparator->Compare(a, b);
  }

  bool Matches(const rocksdb::Slice& key, const rocksdb::Slice& value) {
    constexpr uint64_t kRowsBetweenReports = 1024;
    if (++rows_examined % kRowsBetweenReports == 0 && progress) progress(counts);
    return predicate.Matches(Row(key.ToStringView(), value.ToStringView()));
  }

  uint64_t rows_examined = 0;  ///< Calls of Matches.
};

/// Keys from `low` to `high`, both inclusive, in the comparator's order. Without `low`, from the
/// first key; without `high`, to the last.
struct ScanRange {
  std::optional<std::string> low;
  std::optional<std::string> high;

  const std::optional<std::string>& start(bool reverse) const { return reverse ? high : low; }
  const std::optional<std::string>& end(bool reverse) const { return reverse ? low : high; }
  std::optional<std::string>& start(bool reverse) { return reverse ? high : low; }
  std::optional<std::string>& end(bool reverse) { return reverse ? low : high; }
};

// RocksDB copies all options, under the mutex of the database, for each call that asks for them. So
// a public call asks once; what follows takes its `options`.

/// Errors: NotSupported for databases on which a scan could return wrong rows; InvalidArgument for
/// read options that a scan sets itself.
rocksdb::Status CheckScannable(const rocksdb::Options& options,
                               const rocksdb::ReadOptions& read_options);

/// The read options of a scan: those of `requested` that are known to keep it correct. Later
/// versions of RocksDB have options with which an iterator shows another time than its snapshot's.
rocksdb::ReadOptions ScanReadOptions(const rocksdb::ReadOptions& requested);

/// The columns of the skip index or the block index in the options. Errors: InvalidArgument.
rocksdb::Status FindColumns(const rocksdb::ColumnFamilyOptions& options, ColumnList* columns);

/// The condition, on columns of the options, without order and limit. Errors: InvalidArgument.
rocksdb::Status ParseCondition(std::string_view text, const rocksdb::ColumnFamilyOptions& options,
                               Predicate* condition);

/// PruneReads by a parsed condition; without one, for ranges alone. Where nothing may be left out,
/// for a reason of the database, reads everything, and `*pruning` says why. `can_lack_bases`: the
/// caller reads on where a merge fails because the value below an operand was left out.
rocksdb::Status PruneOrReadAll(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                               const rocksdb::Options& options,
                               const std::optional<Predicate>& condition,
                               const rocksdb::ReadOptions& base, bool can_lack_bases,
                               std::shared_ptr<ReadPruning>* pruning);

/// Bytes at the end of stored values that `db` hides from readers: 4 for a DBWithTTL, else 0.
uint32_t HiddenSuffixBytes(rocksdb::DB* db, const rocksdb::ColumnFamilyOptions& options);

}  // namespace blocksieve::rocksdb_plugin
