// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/scan/candidate_scan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// The first batch is small, for scans of a few rows; later ones are large, to share blocks.
constexpr size_t kFirstBatchRows = 8;
constexpr size_t kMaxBatchRows = 1024;
constexpr size_t kMaxBatchBytes = 4 << 20;

std::vector<rocksdb::Status> MultiGet(const ScanContext& context,
                                      const std::vector<rocksdb::Slice>& keys,
                                      std::vector<std::string>* values) {
  // Databases that wrap another one override this call: DBWithTTL strips the time from values,
  // WRITE_PREPARED transactions hide uncommitted rows. They do not override the batched call.
  if (context.db->GetRootDB() != context.db) {
    return context.db->MultiGet(
        context.read_options,
        std::vector<rocksdb::ColumnFamilyHandle*>(keys.size(), context.column_family), keys,
        values);
  }
  std::vector<rocksdb::PinnableSlice> pinned(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  context.db->MultiGet(context.read_options, context.column_family, keys.size(), keys.data(),
                       pinned.data(), statuses.data(), /*sorted_input=*/true);
  values->resize(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].ok()) (*values)[i].assign(pinned[i].data(), pinned[i].size());
  }
  return statuses;
}

// MultiGet does not return the stored keys, whose bytes can differ under some comparators.
rocksdb::Status LookUpByIterator(const ScanContext& context,
                                 const std::vector<rocksdb::Slice>& keys,
                                 std::vector<std::optional<ScannedRow>>* rows) {
  const std::unique_ptr<rocksdb::Iterator> iterator(
      context.db->NewIterator(context.read_options, context.column_family));
  for (size_t i = 0; i < keys.size(); ++i) {
    iterator->Seek(keys[i]);
    if (!iterator->status().ok()) return iterator->status();
    if (!iterator->Valid() || !context.comparator->Equal(iterator->key(), keys[i])) continue;
    (*rows)[i] = {iterator->key().ToString(), iterator->value().ToString()};
  }
  return rocksdb::Status::OK();
}

// Looks up `keys`, which are distinct and in the comparator's order, at the snapshot. Keys without
// a value have no row. Errors: those of RocksDB.
rocksdb::Status LookUp(const ScanContext& context, const std::vector<rocksdb::Slice>& keys,
                       std::vector<std::optional<ScannedRow>>* rows) {
  rows->resize(keys.size());
  if (context.comparator->CanKeysWithDifferentByteContentsBeEqual()) {
    return LookUpByIterator(context, keys, rows);
  }
  std::vector<std::string> values;
  const std::vector<rocksdb::Status> statuses = MultiGet(context, keys, &values);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].IsNotFound()) continue;
    if (!statuses[i].ok()) return statuses[i];
    (*rows)[i] = {keys[i].ToString(), std::move(values[i])};
  }
  return rocksdb::Status::OK();
}

}  // namespace

CandidateScan::CandidateScan(ScanContext* context, std::unique_ptr<MergedRanges> ranges,
                             std::unique_ptr<CandidateSource> memtables, ScanPlan plan)
    : context_(context),
      plan_(std::move(plan)),
      ranges_(std::move(ranges)),
      batch_rows_(context->limit == 0 ? kFirstBatchRows
                                      : std::min<size_t>(context->limit, kFirstBatchRows)) {
  if (memtables != nullptr) sources_.push_back(std::move(memtables));
  for (PlannedFile& file : plan_.files) {
    sources_.push_back(std::make_unique<CandidateSource>(context, ranges_.get(), &plan_, &file));
  }
  for (const auto& source : sources_) PushSource(source.get());
}

rocksdb::Status CandidateScan::NextBatch(std::vector<ScannedRow>* rows) {
  batch_.clear();
  // A batch may be empty because all its rows were stale.
  while (batch_.empty()) {
    CollectCandidates();
    BLOCKSIEVE_RETURN_IF_ERROR(ranges_->status());
    if (batch_.empty()) break;
    BLOCKSIEVE_RETURN_IF_ERROR(Recheck());
    const size_t next = batch_bytes_ > kMaxBatchBytes ? batch_rows_ / 2 : batch_rows_ * 2;
    batch_rows_ = std::clamp<size_t>(next, 1, kMaxBatchRows);
  }
  rows->swap(batch_);
  return rocksdb::Status::OK();
}

void CandidateScan::CollectCandidates() {
  batch_bytes_ = 0;
  while (batch_.size() < batch_rows_ && batch_bytes_ < kMaxBatchBytes && TakeNext()) {
  }
}

bool CandidateScan::TakeNext() {
  // At equal keys the ranges come first, as their rows are final.
  if (!ranges_->Done() &&
      (heap_.empty() || !ComesLater(ranges_->Bound(), heap_.front()->Bound()))) {
    TakeRange();
  } else if (!heap_.empty()) {
    TakeSource();
  } else {
    return false;
  }
  return ranges_->status().ok();
}

void CandidateScan::TakeRange() {
  if (!ranges_->IsPositioned()) return ranges_->Position();
  const rocksdb::Slice value = ranges_->value();
  const rocksdb::Slice key = *ranges_->Bound();
  if (context_->Matches(key, value)) AddRow(key, &value);
  ranges_->Next();
}

void CandidateScan::TakeSource() {
  std::ranges::pop_heap(
      heap_, [this](const auto& a, const auto& b) { return ComesLater(a, b); },
      &CandidateSource::Bound);
  CandidateSource* const source = heap_.back();
  heap_.pop_back();
  if (source->IsPositioned()) {
    const rocksdb::Slice key = *source->Bound();
    if (!ranges_->Covers(key)) AddRow(key, nullptr);
    source->Next();
  } else {
    source->Position();
  }
  PushSource(source);
}

void CandidateScan::AddRow(const rocksdb::Slice& key, const rocksdb::Slice* final_value) {
  // Several files may have the same key, and ranges may be read twice.
  if (last_key_ && context_->CompareInScan(key, *last_key_) <= 0) return;
  last_key_ = key.ToString();
  ScannedRow& row = batch_.emplace_back();
  row.key = *last_key_;
  row.is_final = final_value != nullptr;
  if (final_value != nullptr) row.value.assign(final_value->data(), final_value->size());
  batch_bytes_ += row.key.size() + row.value.size();
}

rocksdb::Status CandidateScan::Recheck() {
  std::vector<rocksdb::Slice> keys;
  for (const ScannedRow& row : batch_) {
    if (!row.is_final) keys.push_back(row.key);
  }
  if (keys.empty()) return rocksdb::Status::OK();
  // MultiGet requires the comparator's order.
  if (context_->reverse) std::reverse(keys.begin(), keys.end());
  std::vector<std::optional<ScannedRow>> stored;
  BLOCKSIEVE_RETURN_IF_ERROR(LookUp(*context_, keys, &stored));
  context_->counts.rows_rechecked += keys.size();
  if (context_->reverse) std::reverse(stored.begin(), stored.end());
  auto next = stored.begin();
  std::vector<ScannedRow> rows;
  for (ScannedRow& row : batch_) {
    if (!row.is_final) {
      std::optional<ScannedRow>& found = *next++;
      batch_bytes_ += found ? found->value.size() : 0;
      if (!found || !context_->Matches(found->key, found->value)) {
        ++context_->counts.rows_stale;
        continue;
      }
      row = *std::move(found);
    }
    rows.push_back(std::move(row));
  }
  batch_ = std::move(rows);
  return rocksdb::Status::OK();
}

bool CandidateScan::ComesLater(const std::optional<rocksdb::Slice>& a,
                               const std::optional<rocksdb::Slice>& b) const {
  if (!a || !b) return a.has_value() && !b.has_value();
  return context_->CompareInScan(*a, *b) > 0;
}

void CandidateScan::PushSource(CandidateSource* source) {
  if (source->Done()) return;
  heap_.push_back(source);
  std::ranges::push_heap(
      heap_, [this](const auto& a, const auto& b) { return ComesLater(a, b); },
      &CandidateSource::Bound);
}

}  // namespace blocksieve::rocksdb_plugin
