#pragma once

#include <memory>
#include <optional>

#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/scan/merged_ranges.h"
#include "integration/rocksdb/scan/scan_context.h"
#include "integration/rocksdb/scan/scan_plan.h"

namespace blocksieve::rocksdb_plugin {

/// A key range with candidates.
struct SourceRange {
  ScanRange keys;
  /// Every key is a candidate, as stored values may be only parts of what readers see.
  bool every_key = false;
};

/// Candidates in key ranges that one iterator reads, one range after the other.
class IteratorSource : public CandidateSource {
 public:
  bool Done() const override { return !positioned_ && !current_; }
  std::optional<rocksdb::Slice> Bound() const override;
  bool IsPositioned() const override { return positioned_; }
  void Next() override;

 protected:
  /// Both must outlive this.
  IteratorSource(ScanContext* context, MergedRanges* ranges) : context_(context), ranges_(ranges) {}

  /// Sets current_ to the next range, or to nothing.
  virtual void LoadNextRange() = 0;
  /// Moves the iterator to a candidate, or loads the next range.
  void FindCandidate();

  ScanContext* const context_;
  MergedRanges* const ranges_;
  std::unique_ptr<BoundedIterator> iterator_;
  std::optional<SourceRange> current_;  // or the next, if not positioned

 private:
  bool positioned_ = false;
};

/// Candidates in the memtables of the start of the scan. Without a merge operator, memtables hold
/// the newest version of their keys, whose value decides. With one, every key is a candidate,
/// because operands without the value below them do not show the merged value.
class MemtableSource final : public IteratorSource {
 public:
  /// Pins the memtables.
  MemtableSource(ScanContext* context, MergedRanges* ranges);

  /// Error of creating the iterator: secondary instances have no iterators at a snapshot.
  rocksdb::Status status() const { return iterator_->status(); }

  void Position() override;

 private:
  void LoadNextRange() override { current_.reset(); }
};

/// Candidates of one file: the rows of its selected granules, one range of adjacent granules at a
/// time.
///
/// The merged view reads ranges that no other file overlaps; its rows are final. Other ranges are
/// read by an iterator with a table filter for this file only: on the merged view, a few scattered
/// rows of a young file would make RocksDB read everything below them. Rows read so are only
/// candidates, as other files may delete or overwrite them.
///
/// Such an iterator sees the files of its own creation. If this file was gone by then (RocksDB
/// never called the filter for it, or only for another file with the same contents), the merged
/// view, which was pinned before, reads the range.
class FileSource final : public IteratorSource {
 public:
  /// All arguments must outlive this.
  FileSource(ScanContext* context, const ScanPlan* plan, const PlannedFile* file,
             MergedRanges* ranges);

  void Position() override;

 private:
  void LoadNextRange() override;
  std::optional<SourceRange> WholeFile();
  std::optional<SourceRange> NextGranules();
  bool MustUseMergedView(const SourceRange& range) const;
  bool MayBeIngestedTwice() const;
  bool IsLive() const;

  const ScanPlan* const plan_;
  const PlannedFile* const file_;

  size_t num_granules_;       // 1 for a file that is read as a whole
  size_t granules_done_ = 0;  // in scan order

  bool admitted_ = false;  // set by only_this_file_, which iterator_ calls on some Seek
  const TableFilter only_this_file_ = [this](const rocksdb::TableProperties& properties) {
    // RocksDB calls this, and is not exception-safe. All files of an SstFileWriter have number 1. A
    // file that was ingested twice is in the database twice, with the same properties.
    const rocksdb::TableProperties& own = file_->index->properties();
    const bool is_it = properties.orig_file_number == own.orig_file_number &&
                       properties.db_session_id == own.db_session_id;
    admitted_ |= is_it;
    return is_it;
  };
};

}  // namespace blocksieve::rocksdb_plugin
