// SPDX-License-Identifier: Apache-2.0
#include "integration/sieve/sieve_queue.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "integration/sieve/sieve_format.h"
#include "lib/base/coding.h"
#include "lib/base/errors.h"

namespace blocksieve::sieve {
namespace {

// Maximum number of URLs in a call of take(), and thus of URLs that are handed out twice if the
// process dies.
constexpr size_t kPopBatch = 1024;

// Popped URLs are deleted in ranges of this many positions. With a tombstone per URL, the next Pop
// would have to skip all of them.
constexpr uint64_t kClearPositions = 1 << 16;

}  // namespace

rocksdb::Status Queue::Load() {
  assert(next_position_ == 0 && reserved_.empty());
  std::string record;
  rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), kQueueKey, &record);
  if (status.ok()) {
    Decoder decoder(AsBytes(record));
    head_ = decoder.Varint();
    num_popped_ = decoder.Varint();
    if (!decoder.ok()) return rocksdb::Status::Corruption("sieve: damaged head of the queue");
  } else if (!status.IsNotFound()) {
    return status;
  }
  // New positions begin after the last one ever used, whether it is queued or was popped.
  const std::unique_ptr<rocksdb::Iterator> last(db_->NewIterator(rocksdb::ReadOptions(), family_));
  last->SeekToLast();
  next_position_ = head_;
  if (last->Valid()) {
    const std::optional<uint64_t> position = ParsePositionKey(last->key());
    if (!position) return rocksdb::Status::Corruption("sieve: damaged key of the queue");
    next_position_ = std::max(head_, *position + 1);
  }
  return last->status();
}

uint64_t Queue::FirstReservedPosition() const {
  const std::lock_guard lock(positions_mutex_);
  return reserved_.empty() ? next_position_ : *reserved_.begin();
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
  const std::string end = PositionKey(FirstReservedPosition());
  const rocksdb::Slice upper_bound(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &upper_bound;
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options, family_));
  at->Seek(PositionKey(head_));
  std::vector<std::string> urls;
  while (*num_popped < max_urls && at->Valid()) {
    urls.clear();
    uint64_t next_head = head_;
    for (; at->Valid() && urls.size() < std::min<uint64_t>(kPopBatch, max_urls - *num_popped);
         at->Next()) {
      const std::optional<uint64_t> position = ParsePositionKey(at->key());
      if (!position) return rocksdb::Status::Corruption("sieve: damaged key of the queue");
      next_head = *position + 1;
      urls.push_back(at->value().ToString());
    }
    if (!at->status().ok() || !take(urls)) break;
    BLOCKSIEVE_RETURN_IF_ERROR(Advance(next_head, urls.size()));
    *num_popped += urls.size();
  }
  return at->status();
}

rocksdb::Status Queue::Advance(uint64_t head, uint64_t count) {
  rocksdb::WriteBatch batch;
  std::string record;
  AppendVarint(&record, head);
  AppendVarint(&record, num_popped_ + count);
  BLOCKSIEVE_RETURN_IF_ERROR(batch.Put(kQueueKey, record));
  const bool clears = head - cleared_ >= kClearPositions;
  if (clears) {
    BLOCKSIEVE_RETURN_IF_ERROR(batch.DeleteRange(family_, PositionKey(0), PositionKey(head)));
  }
  BLOCKSIEVE_RETURN_IF_ERROR(db_->Write(rocksdb::WriteOptions(), &batch));
  head_ = head;
  num_popped_ += count;
  if (clears) cleared_ = head;
  return rocksdb::Status::OK();
}

rocksdb::Status Queue::Compact(std::atomic<bool>* canceled) {
  {
    const auto lock = HoldHead();
    BLOCKSIEVE_RETURN_IF_ERROR(
        db_->DeleteRange(rocksdb::WriteOptions(), family_, PositionKey(0), PositionKey(head_)));
    cleared_ = head_;
  }
  rocksdb::CompactRangeOptions options;
  options.canceled = canceled;
  return db_->CompactRange(options, family_, nullptr, nullptr);
}

}  // namespace blocksieve::sieve
