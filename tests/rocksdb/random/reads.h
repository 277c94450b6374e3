#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "blocksieve/rocksdb/prune_reads.h"
#include "tests/rocksdb/random/rows.h"
#include "tests/rocksdb/random/settings.h"
#include "tests/rocksdb/scan/skip_test_db.h"

namespace blocksieve::testing {

/// What the reads of databases did, in all threads: without it, tests would be weak.
struct ReadTotals {
  std::atomic<uint64_t> reads = 0;
  std::atomic<uint64_t> seeks = 0;
  std::atomic<uint64_t> tables = 0;  // that pruned iterators were about to read
  std::atomic<uint64_t> tables_left_out = 0;
  std::atomic<uint64_t> blocks_left_out = 0;
  std::atomic<uint64_t> scans_skipping = 0;  // most granules
  std::atomic<uint64_t> granules_counted = 0;
  std::atomic<uint64_t> files_vanished = 0;
  std::atomic<uint64_t> too_new = 0;
  std::atomic<uint64_t> rows_rechecked = 0;
  std::atomic<uint64_t> processes_exited = 0;  // at places

  void Add(const ReadPruning& pruning);
  void Add(const ScanExplanation& scan);
};

/// The readers. Each can be given a fault, which tests of the driver find.
inline constexpr std::array kReaders = {"get",       "multiget", "forward",     "backward", "scan",
                                        "multiscan", "prune",    "newiterator", "skipscan"};

/// A fault of a reader: it shows the flushed version of rows that were overwritten or deleted, or
/// loses rows that were overwritten.
struct Fault {
  std::string reader;  // one of kReaders; empty: none
  bool loses = false;
  std::map<std::string, std::string> flushed = {};  // the earlier versions
};

/// Compares answers, and keeps the first failure of all threads.
class Comparer {
 public:
  explicit Comparer(const Fault* fault) : fault_(*fault) {}

  bool has_failed() const { return has_failed_; }
  std::string failure() const;

  void Fail(const Operation& operation, const std::string& what);
  /// Returns whether it is ok.
  bool Must(const Operation& operation, const rocksdb::Status& status);
  void Compare(const Operation& operation, const std::string& reader, ScannedRows rows,
               const ScannedRows& expected);

 private:
  void Spoil(ScannedRows* rows) const;

  const Fault& fault_;
  std::atomic<bool> has_failed_ = false;
  mutable std::mutex mutex_;
  std::string failure_;
};

/// What reads of one moment use and must show.
struct View {
  rocksdb::DB* db = nullptr;
  rocksdb::ColumnFamilyHandle* family = nullptr;
  RowsPtr rows = nullptr;
  const rocksdb::Snapshot* snapshot = nullptr;
  std::string timestamp = {};  // empty without timestamps
};

using MakeIterator = std::function<rocksdb::Iterator*(const rocksdb::ReadOptions&)>;

/// The rows that an iterator in total order shows.
RowsPtr LoadRows(const Settings& settings, const MakeIterator& make,
                 const rocksdb::Snapshot* snapshot = nullptr);

/// Where reads are done and counted.
struct ReadContext {
  const Settings* settings;
  Comparer* comparer;
  ReadTotals* totals;
};

/// ReadOptions that an operation draws.
rocksdb::ReadOptions ToReadOptions(const Operation& operation, const Settings& settings,
                                   const rocksdb::ReadOptions& base = {});

/// A new decision for the condition `where` of an operation; null without one, or if pruning is
/// refused. `base`: another decision's options, or the defaults.
std::shared_ptr<ReadPruning> Decide(const Operation& operation, const View& view,
                                    const ReadContext& context,
                                    const rocksdb::ReadOptions& base = {});

/// An iterator, which is compared with a cursor after each move. With a decision it moves on to
/// matching rows; with `matching` in the operation it is a NewIterator.
class KeptIterator {
 public:
  KeptIterator(const Operation& operation, View view, std::shared_ptr<ReadPruning> pruning,
               const ReadContext& context, const MakeIterator& make = nullptr);
  KeptIterator(const KeptIterator&) = delete;
  KeptIterator& operator=(const KeptIterator&) = delete;

  /// to = first, last, seek, seek_for_prev, next or prev, the last two only at a row; with `upper`,
  /// the upper bound changes before.
  void Move(const Operation& operation);
  /// A new view if RocksDB can refresh it.
  void Refresh(const Operation& operation, View view);
  /// Tailing iterators see later rows.
  void SetRows(RowsPtr rows);

  bool is_at_row() const { return is_at_row_; }
  bool is_tailing() const { return read_.tailing; }
  bool is_at_snapshot() const { return view_.snapshot != nullptr; }

 private:
  void NewCursor();

  View view_;
  const std::shared_ptr<ReadPruning> pruning_;
  const bool is_matching_;              // made by blocksieve::NewIterator
  std::optional<Predicate> condition_;  // of that
  ReadContext context_;
  const bool is_scan_;
  const bool is_of_changes_;  // which may show rows beyond the bound
  Bounds bounds_;
  rocksdb::Slice lower_;
  rocksdb::Slice upper_;
  rocksdb::Slice timestamp_;
  rocksdb::ReadOptions read_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
  std::optional<Cursor> cursor_;
  bool is_at_row_ = false;
};

/// Runs an operation that reads once: get, multiget, scan, multiscan or skipscan. `pruning` is for
/// scan and multiscan, `make` for scan.
void ReadOnce(const Operation& operation, const View& view, const ReadContext& context,
              const std::shared_ptr<ReadPruning>& pruning = nullptr,
              const MakeIterator& make = nullptr);

}  // namespace blocksieve::testing
