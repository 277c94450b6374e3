// SPDX-License-Identifier: Apache-2.0
#include "integration/sieve/sieve_shard.h"

#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>
#include <unordered_set>
#include <utility>

#include "blocksieve/hash.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "lib/base/coding.h"
#include "lib/base/errors.h"

namespace blocksieve::sieve {
namespace {

// With five URLs per counter, one counter in 4,000 saturates at fifteen, and the estimate of n URLs
// has a standard error of 5.3 sqrt(n). With ten, it would be twice the allowed half percent.
constexpr uint64_t kUrlsPerCounter = 5;
constexpr uint64_t kMinCounters = 1024;

// Shards are not equally full, and estimates have errors. Up to this share above the design size,
// the sieve as a whole may not be overfull.
constexpr uint64_t kDesignPartsOfSlack = 16;

/// The counting filter of a shard: one four-bit counter per five URLs, one probe per URL.
///
/// A counting filter with a low FPR would take 36 bits per URL, five times as much as the file
/// filters, which recognise new URLs in a full sieve. This filter only counts URLs while they come
/// and go, which takes 0.8 bits per URL. While the sieve is not full, it also recognises new URLs
/// whose counter is zero without a lookup in RocksDB: a third of them at a fifth of the design
/// size. It is overfull at 17/16 of the design size.
BloomLayout CountingFilterLayout(uint64_t design_urls) {
  return {.num_bits = std::max(design_urls / kUrlsPerCounter, kMinCounters),
          .num_probes = 1,
          .hash_seed = kSieveSeed,
          .design_keys = design_urls + design_urls / kDesignPartsOfSlack};
}

constexpr uint64_t ShardRecord::*kFields[] = {
    &ShardRecord::seen,
    &ShardRecord::enqueued,
    &ShardRecord::withdrawn,
    &ShardRecord::new_by_counting_filter,
    &ShardRecord::new_by_file_filters,
    &ShardRecord::new_by_reading,
    &ShardRecord::repeats,
    &ShardRecord::design_urls,
};

using rocksdb::ReadOptions;
using rocksdb::Slice;

// The hash that a URL has already.
constexpr auto kHashOf = [](const ShardUrl& url) { return static_cast<size_t>(url.hash); };
using UrlSet = std::unordered_set<ShardUrl, decltype(kHashOf)>;

/// Data blocks that this thread has read. Excludes index and filter blocks, which are not in the
/// block cache but in the open files.
uint64_t DataBlocksSoFar() {
  const rocksdb::PerfContext& context = *rocksdb::get_perf_context();
  return context.block_cache_hit_count + context.block_read_count;
}

}  // namespace

void ShardRecord::Add(const ShardRecord& other) {
  for (const auto field : kFields) this->*field += other.*field;
}

std::string ShardRecord::Encode() const {
  std::string text;
  for (const auto field : kFields) AppendVarint(&text, this->*field);
  return text;
}

std::optional<ShardRecord> ShardRecord::Decode(std::string_view text) {
  Decoder decoder(AsBytes(text));
  ShardRecord record;
  for (const auto field : kFields) record.*field = decoder.Varint();
  if (!decoder.ok() || !decoder.rest().empty()) return std::nullopt;
  return record;
}

rocksdb::Status Shard::Load(uint64_t design_urls) {
  const std::lock_guard lock(mutex_);
  assert(!filter_);
  std::string text;
  rocksdb::Status status = db_->Get(ReadOptions(), ShardKey(number_), &text);
  if (status.ok()) {
    const std::optional<ShardRecord> record = ShardRecord::Decode(text);
    if (!record)
      return rocksdb::Status::Corruption("sieve: damaged counts of " + ShardKey(number_));
    record_ = *record;
  } else if (status.IsNotFound()) {
    record_.design_urls = design_urls;
  } else {
    return status;
  }
  status = db_->Get(ReadOptions(), FilterKey(number_), &text);
  if (!status.ok() && !status.IsNotFound()) return status;
  if (status.ok()) {
    Result<CountingBloom> filter = CountingBloom::Deserialize(AsBytes(text));
    if (filter.ok() && filter->layout().SameBits(CountingFilterLayout(record_.design_urls))) {
      filter_.emplace(*std::move(filter));
      is_in_sync_ = is_saved_ = true;
      return status;
    }
    BLOCKSIEVE_RETURN_IF_ERROR(db_->Delete(rocksdb::WriteOptions(), FilterKey(number_)));
  }
  return MakeFilter(record_.design_urls);
}

rocksdb::Status Shard::MakeFilter(uint64_t design_urls) {
  Result<CountingBloom> filter = CountingBloom::Create(CountingFilterLayout(design_urls));
  if (!filter.ok()) return rocksdb_plugin::ToRocksStatus(filter.status());
  ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = 2 << 20;
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options, family_));
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    filter->AddHash(HashKey(at->key().ToStringView(), kSieveSeed));
  }
  if (!at->status().ok()) return at->status();
  filter_.emplace(*std::move(filter));
  is_in_sync_ = true;
  return rocksdb::Status::OK();
}

rocksdb::Status Shard::Classify(const ShardUrl& url, UrlState* state, std::string* position) const {
  *state = UrlState::kNewByCountingFilter;
  if (!filter_->MayContainHash(url.hash)) return rocksdb::Status::OK();
  const rocksdb::PerfLevel level_before = rocksdb::GetPerfLevel();
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  const uint64_t blocks_before = DataBlocksSoFar();
  rocksdb::PinnableSlice value;
  rocksdb::Status status =
      db_->Get(ReadOptions(), family_, Slice(url.url.data(), url.url.size()), &value);
  rocksdb::SetPerfLevel(level_before);
  if (status.ok()) {
    *state = UrlState::kSeen;
    position->assign(value.data(), value.size());
  } else if (status.IsNotFound()) {
    *state =
        DataBlocksSoFar() == blocks_before ? UrlState::kNewByFileFilters : UrlState::kNewByReading;
    status = rocksdb::Status::OK();
  }
  return status;
}

// Completes and writes each batch that changes the shard. Deletes the saved filter, which the
// change invalidates.
rocksdb::Status Shard::SaveRecord(rocksdb::WriteBatch* batch, const ShardRecord& record) {
  rocksdb::Status status = batch->Put(ShardKey(number_), record.Encode());
  if (status.ok() && is_saved_) status = batch->Delete(FilterKey(number_));
  if (status.ok()) status = db_->Write(rocksdb::WriteOptions(), batch);
  if (!status.ok()) {
    is_in_sync_ = false;  // the batch may have been written nevertheless
    return status;
  }
  record_ = record;
  is_saved_ = false;
  return status;
}

rocksdb::Status Shard::Push(std::span<const ShardUrl> urls, uint64_t first_position,
                            uint64_t* num_new) {
  const std::lock_guard lock(mutex_);
  BLOCKSIEVE_RETURN_IF_ERROR(GrowIfOverfull());
  // Not in sync until the URLs added to the filter are written.
  const bool was_in_sync = std::exchange(is_in_sync_, false);
  rocksdb::WriteBatch batch;
  ShardRecord record = record_;
  UrlSet in_batch;
  std::string position;
  for (const ShardUrl& url : urls) {
    UrlState state;
    BLOCKSIEVE_RETURN_IF_ERROR(Classify(url, &state, &position));
    // A URL that is not in the counting filter is not in the batch: the loop adds to both.
    const bool is_new = state == UrlState::kNewByCountingFilter ||
                        (state != UrlState::kSeen && !in_batch.contains(url));
    if (!is_new) {
      ++record.repeats;
      continue;
    }
    in_batch.insert(url);
    filter_->AddHash(url.hash);
    ++record.seen;
    ++record.enqueued;
    record.new_by_counting_filter += state == UrlState::kNewByCountingFilter;
    record.new_by_file_filters += state == UrlState::kNewByFileFilters;
    record.new_by_reading += state == UrlState::kNewByReading;
    position.clear();
    AppendVarint(&position, first_position + url.index);
    const Slice key(url.url.data(), url.url.size());
    BLOCKSIEVE_RETURN_IF_ERROR(batch.Put(family_, key, position));
    BLOCKSIEVE_RETURN_IF_ERROR(
        batch.Put(queue_->family(), PositionKey(first_position + url.index), key));
  }
  *num_new = record.seen - record_.seen;
  rocksdb::Status status = SaveRecord(&batch, record);
  is_in_sync_ = was_in_sync && status.ok();
  return status;
}

rocksdb::Status Shard::Forget(std::span<const ShardUrl> urls, uint64_t* num_forgotten) {
  const std::lock_guard lock(mutex_);
  const auto head_lock = queue_->HoldHead();
  rocksdb::WriteBatch batch;
  ShardRecord record = record_;
  UrlSet forgotten;
  std::string position_text;
  for (const ShardUrl& url : urls) {
    UrlState state;
    BLOCKSIEVE_RETURN_IF_ERROR(Classify(url, &state, &position_text));
    if (state != UrlState::kSeen || !forgotten.insert(url).second) continue;
    Decoder decoder(AsBytes(position_text));
    const uint64_t position = decoder.Varint();
    if (!decoder.ok()) return rocksdb::Status::Corruption("sieve: damaged queue position of a URL");
    --record.seen;
    BLOCKSIEVE_RETURN_IF_ERROR(batch.Delete(family_, Slice(url.url.data(), url.url.size())));
    if (position < queue_->head(head_lock)) continue;
    ++record.withdrawn;
    BLOCKSIEVE_RETURN_IF_ERROR(batch.Delete(queue_->family(), PositionKey(position)));
  }
  *num_forgotten = forgotten.size();
  if (forgotten.empty()) return rocksdb::Status::OK();
  BLOCKSIEVE_RETURN_IF_ERROR(SaveRecord(&batch, record));
  // Only after the batch is written: the filter must contain all URLs of the family.
  bool had_all = true;
  for (const ShardUrl& url : forgotten) had_all = filter_->RemoveHash(url.hash) && had_all;
  if (had_all) return rocksdb::Status::OK();
  is_in_sync_ = false;
  return rocksdb::Status::Corruption(
      "sieve: a counting filter does not contain a URL of the sieve");
}

rocksdb::Status Shard::Compact(std::atomic<bool>* canceled) {
  rocksdb::CompactRangeOptions options;
  options.canceled = canceled;
  // Files of the last level may have forgotten URLs, too.
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  BLOCKSIEVE_RETURN_IF_ERROR(db_->CompactRange(options, family_, nullptr, nullptr));
  const std::lock_guard lock(mutex_);
  return GrowIfOverfull();
}

// Doubling bounds the total of URLs read for growing by twice the URLs in the shard.
rocksdb::Status Shard::GrowIfOverfull() {
  if (filter_->CheckFill().ok()) return rocksdb::Status::OK();
  ShardRecord record = record_;
  record.design_urls = std::max(2 * record.seen, record.design_urls);
  BLOCKSIEVE_RETURN_IF_ERROR(MakeFilter(record.design_urls));
  rocksdb::WriteBatch batch;
  return SaveRecord(&batch, record);
}

rocksdb::Status Shard::Save() {
  const std::lock_guard lock(mutex_);
  if (is_saved_ || !is_in_sync_) return rocksdb::Status::OK();
  const Result<OwnedBytes> block = filter_->Serialize();
  if (!block.ok()) return rocksdb_plugin::ToRocksStatus(block.status());
  rocksdb::WriteBatch batch;
  BLOCKSIEVE_RETURN_IF_ERROR(batch.Put(ShardKey(number_), record_.Encode()));
  BLOCKSIEVE_RETURN_IF_ERROR(batch.Put(FilterKey(number_), AsText(block->view())));
  BLOCKSIEVE_RETURN_IF_ERROR(db_->Write(rocksdb::WriteOptions(), &batch));
  is_saved_ = true;
  return rocksdb::Status::OK();
}

rocksdb::Status Shard::AddTo(SieveStats* stats) const {
  rocksdb::TablePropertiesCollection tables;
  rocksdb::Status status = rocksdb_plugin::ReadTableProperties(db_, family_, &tables);
  for (const auto& [name, properties] : tables) stats->file_filter_bytes += properties->filter_size;
  const std::lock_guard lock(mutex_);
  stats->Add(record_);
  const CardinalityEstimate estimate = filter_->EstimateCardinality();
  stats->estimated.keys += estimate.keys;
  stats->estimated.standard_error =
      std::hypot(stats->estimated.standard_error, estimate.standard_error);
  stats->counting_filter_bytes += filter_->memory_bytes();
  if (const Status fill = filter_->CheckFill(); !fill.ok()) stats->overfull = fill.message();
  return status;
}

}  // namespace blocksieve::sieve
