#include "integration/rocksdb/scan/store_sources.h"

#include <cassert>
#include <utility>

#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::rocksdb_plugin {

std::optional<rocksdb::Slice> IteratorSource::Bound() const {
  assert(!Done());
  if (positioned_) return iterator_->key();
  const std::optional<std::string>& start = current_->keys.start(context_->reverse);
  if (!start) return std::nullopt;
  return rocksdb::Slice(*start);
}

void IteratorSource::Next() {
  assert(IsPositioned());
  // The merged view continues here if an operand after this row stops the iterator.
  if (current_->every_key) current_->keys.start(context_->reverse) = iterator_->key().ToString();
  iterator_->Next();
  FindCandidate();
}

void IteratorSource::FindCandidate() {
  for (; iterator_->Valid(); iterator_->Next()) {
    ++context_->counts.rows_read;
    if (current_->every_key || context_->Matches(iterator_->value())) {
      positioned_ = true;
      return;
    }
  }
  positioned_ = false;
  // Either the merge operator requires the value below an operand, which is elsewhere, or a block
  // is damaged, which the merged view reports.
  if (!iterator_->status().ok()) ranges_->Add(std::move(current_->keys));
  LoadNextRange();
}

MemtableSource::MemtableSource(ScanContext* context, MergedRanges* ranges)
    : IteratorSource(context, ranges) {
  rocksdb::ReadOptions options = context->read_options;
  options.read_tier = rocksdb::kMemtableTier;
  iterator_ = std::make_unique<BoundedIterator>(context, options);
  current_.emplace().every_key = context->has_merges;
  iterator_->Pin(current_->keys);
}

void MemtableSource::Position() {
  assert(!Done() && !IsPositioned());
  iterator_->Seek(current_->keys);
  FindCandidate();
}

FileSource::FileSource(ScanContext* context, const ScanPlan* plan, const PlannedFile* file,
                       MergedRanges* ranges)
    : IteratorSource(context, ranges),
      plan_(plan),
      file_(file),
      num_granules_(file->is_whole ? 1 : file->granules.num_granules()) {
  LoadNextRange();
}

void FileSource::LoadNextRange() {
  current_ = file_->is_whole ? WholeFile() : NextGranules();
  if (!current_) iterator_.reset();  // unpins the file
}

std::optional<SourceRange> FileSource::WholeFile() {
  if (granules_done_++ != 0) return std::nullopt;
  SourceRange range;
  if (const rocksdb::SstFileMetaData* const metadata = plan_->map->Find(file_->number)) {
    range.keys = {metadata->smallestkey, metadata->largestkey};
  }
  range.every_key = context_->has_merges && file_->index->properties().num_merge_operands != 0;
  return range;
}

std::optional<SourceRange> FileSource::NextGranules() {
  const auto granule_at = [this](size_t number) {
    return context_->reverse ? num_granules_ - 1 - number : number;
  };
  const SkipIndex& index = *file_->index->index();
  while (granules_done_ < num_granules_ && !file_->granules.Has(granule_at(granules_done_))) {
    ++granules_done_;
  }
  if (granules_done_ == num_granules_) return std::nullopt;
  const size_t first = granule_at(granules_done_);
  SourceRange range;
  range.every_key = index.AlwaysMatches(first);
  size_t last = first;
  for (++granules_done_; granules_done_ < num_granules_; ++granules_done_) {
    const size_t granule = granule_at(granules_done_);
    if (!file_->granules.Has(granule) || index.AlwaysMatches(granule) != range.every_key) break;
    last = granule;
  }
  const auto [low, high] = std::minmax(first, last);
  index.GetKeyRange(low, &range.keys.low.emplace(), nullptr);
  index.GetKeyRange(high, nullptr, &range.keys.high.emplace());
  return range;
}

bool FileSource::MustUseMergedView(const SourceRange& range) const {
  if (!IdOfSst(file_->index->properties()) || !range.keys.low) return true;
  return plan_->map_is_complete && !plan_->map->OthersOverlap(range.keys, file_->number);
}

// Only an ingested file can be in the database twice with the same contents.
bool FileSource::MayBeIngestedTwice() const {
  return file_->index->properties().user_collected_properties.count(kExternalFileProperty) != 0;
}

// File numbers are never reused, so a file that is live now was live when the iterator was created.
bool FileSource::IsLive() const {
  rocksdb::ColumnFamilyMetaData metadata;
  context_->db->GetColumnFamilyMetaData(context_->column_family, &metadata);
  return FileMap(context_->comparator, std::move(metadata)).Find(file_->number) != nullptr;
}

void FileSource::Position() {
  assert(!Done() && !IsPositioned());
  if (!ranges_->CutCovered(&current_->keys)) return LoadNextRange();
  if (MustUseMergedView(*current_)) {
    ranges_->Add(std::move(current_->keys));
    return LoadNextRange();
  }
  const bool is_new = iterator_ == nullptr || !iterator_->HasIteratorFor(current_->keys);
  if (is_new) {
    admitted_ = false;
    rocksdb::ReadOptions options = context_->read_options;
    SetTableFilter(only_this_file_, &options);
    iterator_ = std::make_unique<BoundedIterator>(context_, options);
  }
  ++context_->counts.granule_ranges_read;
  iterator_->Seek(current_->keys);
  if (is_new && MayBeIngestedTwice()) admitted_ = admitted_ && IsLive();
  if (!admitted_) {
    ++context_->counts.files_vanished;
    ranges_->Add(std::move(current_->keys));
    return LoadNextRange();
  }
  FindCandidate();
}

}  // namespace blocksieve::rocksdb_plugin
