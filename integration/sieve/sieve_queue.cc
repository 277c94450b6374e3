#include "integration/sieve/sieve_queue.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "integration/sieve/sieve_format.h"
#include "lib/base/coding.h"

namespace blocksieve::sieve {
namespace {

// The most URLs that take() gets at once, and thus that a process which dies may hand out twice.
constexpr size_t kPopBatch = 1024;

// Popped URLs are deleted by ranges of so many places. With a tombstone for each URL, the next Pop
// would have to read through all of them.
constexpr uint64_t kClearPlaces = 1 << 16;

}  // namespace

rocksdb::Status Queue::Load() {
  assert(next_place_ == 0 && reserved_.empty());
  std::string record;
  rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), kQueueKey, &record);
  if (status.ok()) {
    Decoder decoder(AsBytes(record));
    head_ = decoder.Varint();
    num_popped_ = decoder.Varint();
    if (!decoder.ok()) return rocksdb::Status::Corruption("sieve: the head of the queue");
  } else if (!status.IsNotFound()) {
    return status;
  }
  // New places begin after the last that was ever used, whether its URL is queued or was popped.
  const std::unique_ptr<rocksdb::Iterator> last(db_->NewIterator(rocksdb::ReadOptions(), family_));
  last->SeekToLast();
  next_place_ = head_;
  if (last->Valid()) {
    const std::optional<uint64_t> place = ParsePlaceKey(last->key());
    if (!place) return rocksdb::Status::Corruption("sieve: a key of the queue");
    next_place_ = std::max(head_, *place + 1);
  }
  return last->status();
}

uint64_t Queue::Reserve(uint64_t count) {
  const std::lock_guard lock(places_mutex_);
  const uint64_t first = next_place_;
  next_place_ += count;
  reserved_.insert(first);
  return first;
}

void Queue::Release(uint64_t first) {
  const std::lock_guard lock(places_mutex_);
  reserved_.erase(reserved_.find(first));
}

uint64_t Queue::FirstOpenPlace() const {
  const std::lock_guard lock(places_mutex_);
  return reserved_.empty() ? next_place_ : *reserved_.begin();
}

uint64_t Queue::num_popped() const {
  const std::lock_guard lock(head_mutex_);
  return num_popped_;
}

rocksdb::Status Queue::Pop(uint64_t max_urls,
                           const std::function<bool(std::span<const std::string>)>& take,
                           uint64_t* num_popped) {
  *num_popped = 0;
  const auto lock = HoldHead();
  const std::string end = PlaceKey(FirstOpenPlace());
  const rocksdb::Slice upper_bound(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &upper_bound;
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options, family_));
  at->Seek(PlaceKey(head_));
  std::vector<std::string> urls;
  while (*num_popped < max_urls && at->Valid()) {
    urls.clear();
    uint64_t next_head = head_;
    for (; at->Valid() && urls.size() < std::min<uint64_t>(kPopBatch, max_urls - *num_popped);
         at->Next()) {
      const std::optional<uint64_t> place = ParsePlaceKey(at->key());
      if (!place) return rocksdb::Status::Corruption("sieve: a key of the queue");
      next_head = *place + 1;
      urls.push_back(at->value().ToString());
    }
    if (!at->status().ok() || !take(urls)) break;
    if (rocksdb::Status status = Advance(next_head, urls.size()); !status.ok()) return status;
    *num_popped += urls.size();
  }
  return at->status();
}

rocksdb::Status Queue::Advance(uint64_t head, uint64_t count) {
  rocksdb::WriteBatch batch;
  std::string record;
  AppendVarint(&record, head);
  AppendVarint(&record, num_popped_ + count);
  rocksdb::Status status = batch.Put(kQueueKey, record);
  const bool clears = head - cleared_ >= kClearPlaces;
  if (status.ok() && clears) status = batch.DeleteRange(family_, PlaceKey(0), PlaceKey(head));
  if (status.ok()) status = db_->Write(rocksdb::WriteOptions(), &batch);
  if (!status.ok()) return status;
  head_ = head;
  num_popped_ += count;
  if (clears) cleared_ = head;
  return status;
}

rocksdb::Status Queue::Compact(std::atomic<bool>* canceled) {
  {
    const auto lock = HoldHead();
    rocksdb::Status status =
        db_->DeleteRange(rocksdb::WriteOptions(), family_, PlaceKey(0), PlaceKey(head_));
    if (!status.ok()) return status;
    cleared_ = head_;
  }
  rocksdb::CompactRangeOptions options;
  options.canceled = canceled;
  return db_->CompactRange(options, family_, nullptr, nullptr);
}

}  // namespace blocksieve::sieve
