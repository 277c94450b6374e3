#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <optional>

#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/scan/merged_ranges.h"
#include "integration/rocksdb/scan/scan_context.h"
#include "integration/rocksdb/scan/scan_plan.h"

namespace blocksieve::rocksdb_plugin {

/// Keys of rows that may match, in scan order, of one file or of the memtables. Finds them as late
/// as possible: a source that a limited scan does not reach reads nothing.
class CandidateSource {
 public:
  /// Candidates in the memtables of the start of the scan, which this pins. Without a merge
  /// operator, memtables hold the newest version of their keys, whose value decides. With one,
  /// every key is a candidate, because operands without the value below them do not show the merged
  /// value. Both arguments must outlive this. See status().
  CandidateSource(ScanContext* context, MergedRanges* ranges);

  /// Candidates of one file of the plan: the rows of its selected granules, one range of adjacent
  /// granules at a time.
  ///
  /// The merged view reads ranges that no other file overlaps; its rows are final. Other ranges are
  /// read by an iterator with a table filter for this file only: on the merged view, a few
  /// scattered rows of a young file would make RocksDB read everything below them. Rows read so are
  /// only candidates, as other files may delete or overwrite them.
  ///
  /// Such an iterator sees the files of its own creation. If this file was gone by then (RocksDB
  /// never called the filter for it, or only for another file with the same contents), the merged
  /// view, which was pinned before, reads the range.
  ///
  /// A file that is not pruned yet has its first key as bound, and is pruned at Position(). All
  /// arguments must outlive this.
  CandidateSource(ScanContext* context, MergedRanges* ranges, const ScanPlan* plan,
                  PlannedFile* file);

  CandidateSource(const CandidateSource&) = delete;
  CandidateSource& operator=(const CandidateSource&) = delete;

  /// After construction: secondary instances have no iterator of memtables at a snapshot.
  rocksdb::Status status() const { return iterator_->status(); }

  /// Whether no candidate is left.
  bool Done() const { return !positioned_ && !current_; }

  /// A key before or at the next candidate; nothing if unknown. Valid until the next call of
  /// another function. REQUIRES: !Done()
  std::optional<rocksdb::Slice> Bound() const;

  /// Whether Bound() is a candidate. If not, call Position().
  bool IsPositioned() const { return positioned_; }

  /// Looks for the next candidate. Then the source is positioned, done, or has a later bound.
  /// REQUIRES: !Done() && !IsPositioned()
  void Position();

  /// Moves past the candidate. REQUIRES: IsPositioned()
  void Next();

 private:
  /// Sets current_ to the next range, or to nothing.
  void LoadNextRange();
  /// Moves the iterator to a candidate, or loads the next range.
  void FindCandidate();
  /// Moves the iterator to the range. False if it does not see the file.
  bool SeekInFile();
  ScanRange KeyRange() const;
  std::optional<ScanRange> WholeFile();
  std::optional<ScanRange> NextGranules();
  bool MustUseMergedView(const ScanRange& range) const;
  bool IsLive() const;

  ScanContext* const context_;
  MergedRanges* const ranges_;
  const ScanPlan* const plan_ = nullptr;
  PlannedFile* const file_ = nullptr;  // null: the memtables
  std::unique_ptr<BoundedIterator> iterator_;
  std::optional<ScanRange> current_;  // or the next, if not positioned
  /// Every key of the range is a candidate, as stored values may be only parts of what readers see.
  bool every_key_ = false;
  bool positioned_ = false;
  size_t granules_done_ = 0;  // in scan order; 1 after a file that is read as a whole

  bool admitted_ = false;  // set by only_this_file_, which iterator_ calls on some Seek
  const TableFilter only_this_file_ = [this](const rocksdb::TableProperties& properties) {
    // RocksDB calls this, and is not exception-safe. All files of an SstFileWriter have number 1. A
    // file that was ingested twice is in the database twice, with the same properties.
    const rocksdb::TableProperties& own = *file_->table->properties;
    const bool is_it = properties.orig_file_number == own.orig_file_number &&
                       properties.db_session_id == own.db_session_id;
    admitted_ |= is_it;
    return is_it;
  };
};

}  // namespace blocksieve::rocksdb_plugin
