// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/scan/store_sources.h"

#include <cassert>
#include <optional>
#include <utility>

#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::rocksdb_plugin {
namespace {

/// Candidates in key ranges that one iterator reads, one range after the other.
class IteratorSource : public CandidateSource {
 public:
  bool Done() const override { return !positioned_ && !current_; }
  std::optional<rocksdb::Slice> Bound() const override {
    assert(!Done());
    if (positioned_) return iterator_->key();
    const std::optional<std::string>& start = current_->start(context_->reverse);
    if (!start) return std::nullopt;
    return rocksdb::Slice(*start);
  }

  bool IsPositioned() const override { return positioned_; }
  void Next() override {
    assert(IsPositioned());
    // The merged view continues here if an operand after this row stops the iterator.
    if (every_key_) current_->start(context_->reverse) = iterator_->key().ToString();
    iterator_->Next();
    FindCandidate();
  }

 protected:
  /// Both must outlive this.
  IteratorSource(ScanContext* context, MergedRanges* ranges) : context_(context), ranges_(ranges) {}

  /// Sets current_ to the next range, or to nothing.
  virtual void LoadNextRange() = 0;
  /// Moves the iterator to a candidate, or loads the next range.
  void FindCandidate() {
    for (; iterator_->Valid(); iterator_->Next()) {
      ++context_->counts.rows_read;
      if (every_key_ || context_->Matches(iterator_->value())) {
        positioned_ = true;
        return;
      }
    }
    positioned_ = false;
    // Either the merge operator requires the value below an operand, which is elsewhere, or a block
    // is damaged, which the merged view reports.
    if (!iterator_->status().ok()) ranges_->Add(*std::move(current_));
    LoadNextRange();
  }

  ScanContext* const context_;
  MergedRanges* const ranges_;
  std::unique_ptr<BoundedIterator> iterator_;
  std::optional<ScanRange> current_;  // or the next, if not positioned
  /// Every key of the range is a candidate, as stored values may be only parts of what readers see.
  bool every_key_ = false;

 private:
  bool positioned_ = false;
};

/// Candidates in the memtables of the start of the scan. Without a merge operator, memtables hold
/// the newest version of their keys, whose value decides. With one, every key is a candidate,
/// because operands without the value below them do not show the merged value.
class MemtableSource final : public IteratorSource {
 public:
  /// Pins the memtables.
  MemtableSource(ScanContext* context, MergedRanges* ranges) : IteratorSource(context, ranges) {
    rocksdb::ReadOptions options = context->read_options;
    options.read_tier = rocksdb::kMemtableTier;
    iterator_ = std::make_unique<BoundedIterator>(context, options);
    current_.emplace();
    every_key_ = context->has_merges;
    iterator_->Pin(*current_);
  }

  /// Error of creating the iterator: secondary instances have no iterators at a snapshot.
  rocksdb::Status status() const { return iterator_->status(); }

  void Position() override {
    assert(!Done() && !IsPositioned());
    iterator_->Seek(*current_);
    FindCandidate();
  }

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
///
/// A file that is not pruned yet has its first key as bound, and is pruned at Position().
class FileSource final : public IteratorSource {
 public:
  /// All arguments must outlive this.
  FileSource(ScanContext* context, const ScanPlan* plan, PlannedFile* file, MergedRanges* ranges)
      : IteratorSource(context, ranges), plan_(plan), file_(file) {
    if (file->index == nullptr) {
      current_ = KeyRange();
    } else {
      LoadNextRange();
    }
  }

  void Position() override {
    assert(!Done() && !IsPositioned());
    if (file_->index == nullptr) {
      plan_->prune(file_);
      return LoadNextRange();
    }
    if (!ranges_->CutCovered(&*current_)) return LoadNextRange();
    if (MustUseMergedView(*current_)) {
      ranges_->Add(*std::move(current_));
      return LoadNextRange();
    }
    const bool is_new = iterator_ == nullptr || !iterator_->HasIteratorFor(*current_);
    if (is_new) {
      admitted_ = false;
      rocksdb::ReadOptions options = context_->read_options;
      SetTableFilter(only_this_file_, &options);
      iterator_ = std::make_unique<BoundedIterator>(context_, options);
    }
    ++context_->counts.granule_ranges_read;
    iterator_->Seek(*current_);
    if (is_new && MayBeIngestedTwice()) admitted_ = admitted_ && IsLive();
    if (!admitted_) {
      ++context_->counts.files_vanished;
      ranges_->Add(*std::move(current_));
      return LoadNextRange();
    }
    FindCandidate();
  }

 private:
  void LoadNextRange() override {
    current_ = file_->is_whole ? WholeFile() : NextGranules();
    if (!current_) iterator_.reset();  // unpins the file
  }

  ScanRange KeyRange() const {
    const rocksdb::SstFileMetaData* const metadata = plan_->map->Find(file_->number);
    return metadata == nullptr ? ScanRange()
                               : ScanRange{metadata->smallestkey, metadata->largestkey};
  }

  std::optional<ScanRange> WholeFile() {
    if (granules_done_++ != 0) return std::nullopt;
    every_key_ = context_->has_merges && file_->properties->num_merge_operands != 0;
    return KeyRange();
  }

  std::optional<ScanRange> NextGranules() {
    const size_t num_granules = file_->granules.num_granules();
    const auto granule_at = [&](size_t number) {
      return context_->reverse ? num_granules - 1 - number : number;
    };
    const SkipIndex& index = *file_->index->index();
    while (granules_done_ < num_granules && !file_->granules.Has(granule_at(granules_done_))) {
      ++granules_done_;
    }
    if (granules_done_ == num_granules) return std::nullopt;
    const size_t first = granule_at(granules_done_);
    ScanRange range;
    every_key_ = index.AlwaysMatches(first);
    size_t last = first;
    for (++granules_done_; granules_done_ < num_granules; ++granules_done_) {
      const size_t granule = granule_at(granules_done_);
      if (!file_->granules.Has(granule) || index.AlwaysMatches(granule) != every_key_) break;
      last = granule;
    }
    const auto [low, high] = std::minmax(first, last);
    index.GetKeyRange(low, &range.low.emplace(), nullptr);
    index.GetKeyRange(high, nullptr, &range.high.emplace());
    return range;
  }

  bool MustUseMergedView(const ScanRange& range) const {
    if (!IdOfSst(*file_->properties) || !range.low) return true;
    return plan_->map_is_complete && !plan_->map->OthersOverlap(range, file_->number);
  }

  // Only an ingested file can be in the database twice with the same contents.
  bool MayBeIngestedTwice() const {
    return file_->properties->user_collected_properties.count(kExternalFileProperty) != 0;
  }

  // File numbers are never reused, so a file that is live now was live when the iterator was
  // created.
  bool IsLive() const {
    rocksdb::ColumnFamilyMetaData metadata;
    context_->db->GetColumnFamilyMetaData(context_->column_family, &metadata);
    return FileMap(context_->comparator, std::move(metadata)).Find(file_->number) != nullptr;
  }

  const ScanPlan* const plan_;
  PlannedFile* const file_;
  size_t granules_done_ = 0;  // in scan order; 1 after a file that is read as a whole

  bool admitted_ = false;  // set by only_this_file_, which iterator_ calls on some Seek
  const TableFilter only_this_file_ = [this](const rocksdb::TableProperties& properties) {
    // RocksDB calls this, and is not exception-safe. All files of an SstFileWriter have number 1. A
    // file that was ingested twice is in the database twice, with the same properties.
    const rocksdb::TableProperties& own = *file_->properties;
    const bool is_it = properties.orig_file_number == own.orig_file_number &&
                       properties.db_session_id == own.db_session_id;
    admitted_ |= is_it;
    return is_it;
  };
};

}  // namespace

std::unique_ptr<CandidateSource> NewMemtableSource(ScanContext* context, MergedRanges* ranges,
                                                   rocksdb::Status* status) {
  auto source = std::make_unique<MemtableSource>(context, ranges);
  *status = source->status();
  return source;
}

std::unique_ptr<CandidateSource> NewFileSource(ScanContext* context, const ScanPlan* plan,
                                               PlannedFile* file, MergedRanges* ranges) {
  return std::make_unique<FileSource>(context, plan, file, ranges);
}

}  // namespace blocksieve::rocksdb_plugin
