#pragma once

#include <rocksdb/iterator.h>

#include <memory>
#include <optional>
#include <string>

#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/scan/merged_ranges.h"
#include "integration/rocksdb/scan/scan_context.h"
#include "integration/rocksdb/scan/scan_plan.h"

namespace blocksieve::rocksdb_plugin {

/// Candidates among the keys that memtables held when the scan began. Without a merge operator,
/// memtables hold the newest version of their keys, and its value decides. With one, every key is a
/// candidate: what the operator makes of operands without the value below them says nothing.
class MemtableSource final : public CandidateSource {
 public:
  /// Takes hold of the memtables. The context and `ranges` must outlive this.
  MemtableSource(ScanContext* context, MergedRanges* ranges);

  /// That of making the iterator; a secondary instance has none at a snapshot.
  rocksdb::Status status() const { return iterator_->status(); }

  bool Done() const override { return done_; }
  std::optional<rocksdb::Slice> Bound() const override;
  bool IsPositioned() const override { return positioned_; }
  void Position() override;
  void Next() override;

 private:
  void FindCandidate();

  ScanContext* const context_;
  MergedRanges* const ranges_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
  std::optional<std::string> last_key_;  // kept only where operands may stop the iterator
  bool positioned_ = false;
  bool done_ = false;
};

/// Candidates of one file: the rows of its selected granules, run by run of adjacent ones.
///
/// A run that no other file overlaps is handed to the merged view, whose rows are final. Others are
/// read by an iterator that admits this file only: on the merged view a few rows of a young file,
/// which lie far apart, would draw in everything below them. What is read so may be deleted or
/// overwritten by other files, and is a candidate only.
///
/// Such an iterator shows the tree of its own time. If the file is gone from it (it was never asked
/// whether to admit it, or for another one of the same contents), the run is handed to the merged
/// view, which was pinned before.
class FileSource final : public CandidateSource {
 public:
  /// All must outlive this.
  FileSource(ScanContext* context, const ScanPlan* plan, const PlannedFile* file,
             MergedRanges* ranges);

  bool Done() const override { return !positioned_ && !run_; }
  std::optional<rocksdb::Slice> Bound() const override;
  bool IsPositioned() const override { return positioned_; }
  void Position() override;
  void Next() override;

 private:
  struct Run {
    ScanRange range;
    /// Every key is a candidate: values may be parts of what readers see.
    bool every_key = false;
  };

  void LoadRun();
  std::optional<Run> WholeFile();
  std::optional<Run> NextGranules();
  bool MustUseMergedView(const Run& run) const;
  bool MayBeThereTwice() const;
  bool IsLive() const;
  void FindCandidate();

  ScanContext* const context_;
  const ScanPlan* const plan_;
  const PlannedFile* const file_;
  MergedRanges* const ranges_;
  const FileIdentity identity_;

  size_t num_granules_;       // 1 stands for the whole of a file that has none
  size_t granules_done_ = 0;  // in scan order
  std::optional<Run> run_;    // the current one, or the next

  bool admitted_ = false;  // set by only_this_file_, which iterator_ calls on some Seek
  const TableFilter only_this_file_ = [this](const rocksdb::TableProperties& properties) {
    // RocksDB calls this, and is not exception-safe.
    const bool is_it = HasIdentity(properties, identity_);
    admitted_ |= is_it;
    return is_it;
  };
  std::unique_ptr<BoundedIterator> iterator_;
  bool positioned_ = false;
};

}  // namespace blocksieve::rocksdb_plugin
