#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>

#include <atomic>
#include <cassert>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace blocksieve::sieve {

/// URLs in the order in which they were pushed. Each has a position (a number); some positions have
/// no URL. Shards write URLs to their reserved positions, and Pop removes them. Thread-safe.
class Queue {
 public:
  /// Does not own its arguments.
  Queue(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) : db_(db), family_(family) {}

  /// Reads the queue from the database. REQUIRES: called once, before all other functions.
  rocksdb::Status Load();

  /// Positions that are being filled. While a Reservation exists, Pop stops before it: otherwise
  /// URLs that came earlier could be popped later.
  class Reservation {
   public:
    Reservation(Queue* queue, uint64_t count) : queue_(queue) {
      const std::lock_guard lock(queue_->positions_mutex_);
      first_ = std::exchange(queue_->next_position_, queue_->next_position_ + count);
      queue_->reserved_.insert(first_);
    }
    ~Reservation() {
      const std::lock_guard lock(queue_->positions_mutex_);
      queue_->reserved_.erase(queue_->reserved_.find(first_));
    }
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;

    uint64_t first() const { return first_; }

   private:
    Queue* const queue_;
    uint64_t first_;
  };

  /// See UrlSieve::Pop.
  rocksdb::Status Pop(uint64_t max_urls,
                      const std::function<bool(std::span<const std::string>)>& take,
                      uint64_t* num_popped);

  /// Blocks Pop while the lock is held.
  std::unique_lock<std::mutex> HoldHead() { return std::unique_lock(head_mutex_); }

  /// The first position that was not popped. REQUIRES: `held` is a lock from HoldHead.
  uint64_t head([[maybe_unused]] const std::unique_lock<std::mutex>& held) const {
    assert(held.owns_lock() && held.mutex() == &head_mutex_);
    return head_;
  }

  /// The number of URLs ever popped.
  uint64_t num_popped() const;

  /// Frees the space of popped URLs. Can be canceled like UrlSieve::Compact.
  rocksdb::Status Compact(std::atomic<bool>* canceled);

  rocksdb::ColumnFamilyHandle* family() const { return family_; }

 private:
  uint64_t FirstReservedPosition() const;
  rocksdb::Status Advance(uint64_t head, uint64_t count);

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const family_;

  mutable std::mutex positions_mutex_;
  uint64_t next_position_ = 0;
  std::multiset<uint64_t> reserved_;  // first positions; an empty one equals the next one's

  mutable std::mutex head_mutex_;  // held before positions_mutex_
  uint64_t head_ = 0;
  uint64_t num_popped_ = 0;
  uint64_t cleared_ = 0;  // positions before this were deleted
};

}  // namespace blocksieve::sieve
