#include "integration/sieve/sieve_shard.h"

#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <cassert>
#include <memory>
#include <unordered_set>
#include <utility>

#include "blocksieve/hash.h"
#include "integration/rocksdb/compat/option_type.h"
#include "lib/base/coding.h"

namespace blocksieve::sieve {
namespace {

// With five URLs per counter, one counter in 4,000 reaches fifteen and sticks, and the estimate of
// n URLs has a standard error of 5.3 sqrt(n). With ten, the error would be twice the half percent
// that is allowed.
constexpr uint64_t kUrlsPerCounter = 5;
constexpr uint64_t kMinCounters = 1024;

// Shards are not equally full, and estimates err. Up to this share beyond the design size, the
// sieve as a whole may not be over-full.
constexpr uint64_t kDesignPartsOfSlack = 16;

using rocksdb::ReadOptions;
using rocksdb::Slice;

/// Hashes URLs by the hash that they come with.
struct HashOfUrl {
  size_t operator()(const ShardUrl& url) const { return static_cast<size_t>(url.hash); }
};
struct SameUrl {
  bool operator()(const ShardUrl& a, const ShardUrl& b) const { return a.url == b.url; }
};
using UrlSet = std::unordered_set<ShardUrl, HashOfUrl, SameUrl>;

/// Data blocks that this thread has looked into. Index and filter blocks do not count, because the
/// open files keep them instead of the block cache.
uint64_t DataBlocksSoFar() {
  const rocksdb::PerfContext& context = *rocksdb::get_perf_context();
  return context.block_cache_hit_count + context.block_read_count;
}

/// Makes RocksDB count reads while it lives.
class CountedReads {
 public:
  CountedReads() { rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount); }
  ~CountedReads() { rocksdb::SetPerfLevel(before_); }
  CountedReads(const CountedReads&) = delete;
  CountedReads& operator=(const CountedReads&) = delete;

 private:
  const rocksdb::PerfLevel before_ = rocksdb::GetPerfLevel();
};

}  // namespace

BloomLayout FrontLayout(uint64_t design_urls) {
  return {.num_bits = std::max(design_urls / kUrlsPerCounter, kMinCounters),
          .num_probes = 1,
          .hash_seed = kSieveSeed,
          .design_keys = design_urls + design_urls / kDesignPartsOfSlack};
}

rocksdb::Status Shard::Load(uint64_t design_urls) {
  const std::lock_guard lock(mutex_);
  assert(!filter_);
  std::string text;
  rocksdb::Status status = db_->Get(ReadOptions(), ShardKey(number_), &text);
  if (status.ok()) {
    const std::optional<ShardRecord> record = ShardRecord::Decode(text);
    if (!record) return rocksdb::Status::Corruption("sieve: the counts of " + ShardKey(number_));
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
    if (filter.ok() && filter->layout().SameBits(FrontLayout(record_.design_urls))) {
      filter_.emplace(*std::move(filter));
      is_in_step_ = is_saved_ = true;
      return status;
    }
    status = db_->Delete(rocksdb::WriteOptions(), FilterKey(number_));
    if (!status.ok()) return status;
  }
  return MakeFilter(record_.design_urls);
}

rocksdb::Status Shard::MakeFilter(uint64_t design_urls) {
  Result<CountingBloom> filter = CountingBloom::Create(FrontLayout(design_urls));
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
  is_in_step_ = true;
  return rocksdb::Status::OK();
}

rocksdb::Status Shard::Ask(const ShardUrl& url, Answer* answer, std::string* place) const {
  *answer = Answer::kNewByCountingFilter;
  if (!filter_->MayContainHash(url.hash)) return rocksdb::Status::OK();
  const uint64_t blocks_before = DataBlocksSoFar();
  rocksdb::PinnableSlice value;
  rocksdb::Status status =
      db_->Get(ReadOptions(), family_, Slice(url.url.data(), url.url.size()), &value);
  if (status.ok()) {
    *answer = Answer::kSeen;
    place->assign(value.data(), value.size());
  } else if (status.IsNotFound()) {
    *answer =
        DataBlocksSoFar() == blocks_before ? Answer::kNewByFileFilters : Answer::kNewByReading;
    status = rocksdb::Status::OK();
  }
  return status;
}

// Belongs to every batch that changes the shard. It deletes the saved filter, which is outdated
// then.
rocksdb::Status Shard::SaveRecord(rocksdb::WriteBatch* batch, const ShardRecord& record) {
  rocksdb::Status status = batch->Put(ShardKey(number_), record.Encode());
  if (status.ok() && is_saved_) status = batch->Delete(FilterKey(number_));
  if (status.ok()) status = db_->Write(rocksdb::WriteOptions(), batch);
  if (!status.ok()) {
    is_in_step_ = false;  // the batch may have been written all the same
    return status;
  }
  record_ = record;
  is_saved_ = false;
  return status;
}

rocksdb::Status Shard::Push(std::span<const ShardUrl> urls, uint64_t first_place,
                            uint64_t* num_new) {
  const std::lock_guard lock(mutex_);
  if (rocksdb::Status status = GrowIfOverfull(); !status.ok()) return status;
  const CountedReads counted;
  // Not in step again until what the filter gets is written as well.
  const bool was_in_step = std::exchange(is_in_step_, false);
  rocksdb::WriteBatch batch;
  ShardRecord record = record_;
  UrlSet in_batch;
  std::string place;
  for (const ShardUrl& url : urls) {
    Answer answer;
    rocksdb::Status status = Ask(url, &answer, &place);
    if (!status.ok()) return status;
    // A URL that the counting filter denies is not in the batch: it would have been added below.
    const bool is_new = answer == Answer::kNewByCountingFilter ||
                        (answer != Answer::kSeen && !in_batch.contains(url));
    if (!is_new) {
      ++record.repeats;
      continue;
    }
    in_batch.insert(url);
    filter_->AddHash(url.hash);
    ++record.seen;
    ++record.enqueued;
    record.new_by_counting_filter += answer == Answer::kNewByCountingFilter;
    record.new_by_file_filters += answer == Answer::kNewByFileFilters;
    record.new_by_reading += answer == Answer::kNewByReading;
    place.clear();
    AppendVarint(&place, first_place + url.index);
    const Slice key(url.url.data(), url.url.size());
    status = batch.Put(family_, key, place);
    if (status.ok()) status = batch.Put(queue_->family(), PlaceKey(first_place + url.index), key);
    if (!status.ok()) return status;
  }
  *num_new = record.seen - record_.seen;
  rocksdb::Status status = SaveRecord(&batch, record);
  is_in_step_ = was_in_step && status.ok();
  return status;
}

rocksdb::Status Shard::Forget(std::span<const ShardUrl> urls, uint64_t* num_forgotten) {
  const std::lock_guard lock(mutex_);
  const auto head_lock = queue_->HoldHead();
  rocksdb::WriteBatch batch;
  ShardRecord record = record_;
  UrlSet forgotten;
  std::string place_text;
  for (const ShardUrl& url : urls) {
    Answer answer;
    rocksdb::Status status = Ask(url, &answer, &place_text);
    if (!status.ok()) return status;
    if (answer != Answer::kSeen || !forgotten.insert(url).second) continue;
    Decoder decoder(AsBytes(place_text));
    const uint64_t place = decoder.Varint();
    if (!decoder.ok()) return rocksdb::Status::Corruption("sieve: the place of a URL");
    --record.seen;
    status = batch.Delete(family_, Slice(url.url.data(), url.url.size()));
    if (status.ok() && place >= queue_->head(head_lock)) {
      ++record.withdrawn;
      status = batch.Delete(queue_->family(), PlaceKey(place));
    }
    if (!status.ok()) return status;
  }
  *num_forgotten = forgotten.size();
  if (forgotten.empty()) return rocksdb::Status::OK();
  rocksdb::Status status = SaveRecord(&batch, record);
  if (!status.ok()) return status;
  // Only after the batch is written: a filter must never deny a URL that is there.
  bool had_all = true;
  for (const ShardUrl& url : forgotten) had_all = filter_->RemoveHash(url.hash) && had_all;
  if (had_all) return status;
  is_in_step_ = false;
  return rocksdb::Status::Corruption("sieve: a counting filter denied a URL seen");
}

rocksdb::Status Shard::Compact(std::atomic<bool>* canceled) {
  rocksdb::CompactRangeOptions options;
  options.canceled = canceled;
  // Files of the last level may hold forgotten URLs as well.
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  rocksdb::Status status = db_->CompactRange(options, family_, nullptr, nullptr);
  if (!status.ok()) return status;
  const std::lock_guard lock(mutex_);
  return GrowIfOverfull();
}

// Doubling makes the URLs read so often no more than twice as many as there are.
rocksdb::Status Shard::GrowIfOverfull() {
  if (filter_->CheckFill().ok()) return rocksdb::Status::OK();
  ShardRecord record = record_;
  record.design_urls = std::max(2 * record.seen, record.design_urls);
  rocksdb::Status status = MakeFilter(record.design_urls);
  rocksdb::WriteBatch batch;
  return status.ok() ? SaveRecord(&batch, record) : status;
}

rocksdb::Status Shard::Save() {
  const std::lock_guard lock(mutex_);
  if (is_saved_ || !is_in_step_) return rocksdb::Status::OK();
  const Result<OwnedBytes> block = filter_->Serialize();
  if (!block.ok()) return rocksdb_plugin::ToRocksStatus(block.status());
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.Put(ShardKey(number_), record_.Encode());
  if (status.ok()) status = batch.Put(FilterKey(number_), AsText(block->view()));
  if (status.ok()) status = db_->Write(rocksdb::WriteOptions(), &batch);
  is_saved_ = status.ok();
  return status;
}

ShardRecord Shard::record() const {
  const std::lock_guard lock(mutex_);
  return record_;
}

CardinalityEstimate Shard::EstimateCardinality() const {
  const std::lock_guard lock(mutex_);
  return filter_->EstimateCardinality();
}

uint64_t Shard::counting_filter_bytes() const {
  const std::lock_guard lock(mutex_);
  return filter_->memory_bytes();
}

Status Shard::CheckFill() const {
  const std::lock_guard lock(mutex_);
  return filter_->CheckFill();
}

rocksdb::Status Shard::FileFilterBytes(uint64_t* bytes) const {
  rocksdb::TablePropertiesCollection tables;
  rocksdb::Status status = db_->GetPropertiesOfAllTables(family_, &tables);
  *bytes = 0;
  for (const auto& [name, properties] : tables) *bytes += properties->filter_size;
  return status;
}

}  // namespace blocksieve::sieve
