// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/scan/candidate_source.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::rocksdb_plugin {

CandidateSource::CandidateSource(ScanContext* context, MergedRanges* ranges)
    : context_(context), ranges_(ranges), current_(ScanRange()), every_key_(context->has_merges) {
  rocksdb::ReadOptions options = context->read_options;
  options.read_tier = rocksdb::kMemtableTier;
  iterator_ = std::make_unique<BoundedIterator>(context, options);
  iterator_->Pin(*current_);
}

CandidateSource::CandidateSource(ScanContext* context, MergedRanges* ranges, const ScanPlan* plan,
                                 PlannedFile* file)
    : context_(context), ranges_(ranges), plan_(plan), file_(file) {
  if (file->index == nullptr) {
    current_ = KeyRange();
  } else {
    LoadNextRange();
  }
}

std::optional<rocksdb::Slice> CandidateSource::Bound() const {
  assert(!Done());
  if (positioned_) return iterator_->key();
  const std::optional<std::string>& start = current_->start(context_->reverse);
  if (!start) return std::nullopt;
  return rocksdb::Slice(*start);
}

void CandidateSource::Next() {
  assert(IsPositioned());
  // The merged view continues here if an operand after this row stops the iterator.
  if (every_key_) current_->start(context_->reverse) = iterator_->key().ToString();
  iterator_->Next();
  FindCandidate();
}

void CandidateSource::FindCandidate() {
  for (; iterator_->Valid(); iterator_->Next()) {
    ++context_->counts.rows_read;
    if (every_key_ || context_->Matches(iterator_->key(), iterator_->value())) {
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

void CandidateSource::Position() {
  assert(!Done() && !IsPositioned());
  if (file_ == nullptr) {
    iterator_->Seek(*current_);
    return FindCandidate();
  }
  if (file_->index == nullptr) {
    --context_->counts.files_not_reached;
    PruneFile(context_, *plan_, file_);
    context_->indexes->Finish();
    return LoadNextRange();
  }
  if (!ranges_->CutCovered(&*current_)) return LoadNextRange();
  if (!MustUseMergedView(*current_) && SeekInFile()) return FindCandidate();
  ranges_->Add(*std::move(current_));
  LoadNextRange();
}

bool CandidateSource::SeekInFile() {
  if (iterator_ == nullptr) {
    rocksdb::ReadOptions options = context_->read_options;
    SetTableFilter(only_this_file_, &options);
    iterator_ = std::make_unique<BoundedIterator>(context_, options);
  }
  const bool was_admitted = std::exchange(admitted_, false);
  const bool is_new = iterator_->Pin(*current_);
  ++context_->counts.granule_ranges_read;
  iterator_->Seek(*current_);
  if (!is_new) admitted_ |= was_admitted;
  // Only an ingested file can be in the database twice with the same contents.
  if (is_new && file_->table->is_of_writer) admitted_ = admitted_ && IsLive();
  if (!admitted_) ++context_->counts.files_vanished;
  return admitted_;
}

void CandidateSource::LoadNextRange() {
  if (file_ == nullptr) {
    current_.reset();
  } else {
    current_ = file_->is_whole ? WholeFile() : NextGranules();
  }
  if (!current_) iterator_.reset();  // unpins the file
}

ScanRange CandidateSource::KeyRange() const {
  const rocksdb::SstFileMetaData* const metadata = plan_->map->Find(file_->number);
  return metadata == nullptr ? ScanRange() : ScanRange{metadata->smallestkey, metadata->largestkey};
}

std::optional<ScanRange> CandidateSource::WholeFile() {
  if (granules_done_++ != 0) return std::nullopt;
  every_key_ = context_->has_merges && file_->table->properties->num_merge_operands != 0;
  return KeyRange();
}

std::optional<ScanRange> CandidateSource::NextGranules() {
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
  if (!file_->index->GetKeyRange(low, &range.low.emplace(), nullptr)) range.low = KeyRange().low;
  file_->index->GetKeyRange(high, nullptr, &range.high.emplace());
  return range;
}

bool CandidateSource::MustUseMergedView(const ScanRange& range) const {
  if (!file_->table->id || !range.low) return true;
  return plan_->map_is_complete && !plan_->map->OthersOverlap(range, file_->number);
}

// File numbers are never reused, so a file that is live now was live when the iterator was
// created.
bool CandidateSource::IsLive() const {
  std::shared_ptr<const FamilyFiles> files;
  return FamilyFiles::Read(context_->db, context_->column_family, &files).ok() &&
         files->Find(file_->number) != nullptr;
}

}  // namespace blocksieve::rocksdb_plugin
