#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <string>

namespace blocksieve::sieve {

/// URLs in the order in which they were pushed. Each has a place, a number; places may be missing.
/// Shards write the URLs of the places that they were given; Pop takes them away.
///
/// May be used by several threads at once.
class Queue {
 public:
  /// Neither is owned.
  Queue(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) : db_(db), family_(family) {}

  /// REQUIRES: called first, and once.
  rocksdb::Status Load();

  /// Places that are being filled. While there is a Reservation nothing behind it is popped: a URL
  /// that came before could not be any more.
  class Reservation {
   public:
    Reservation(Queue* queue, uint64_t count) : queue_(queue), first_(queue->Reserve(count)) {}
    ~Reservation() { queue_->Release(first_); }
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;

    uint64_t first() const { return first_; }

   private:
    Queue* const queue_;
    const uint64_t first_;
  };

  /// As UrlSieve::Pop.
  rocksdb::Status Pop(uint64_t max_urls,
                      const std::function<bool(std::span<const std::string>)>& take,
                      uint64_t* num_popped);

  /// Keeps Pop out, so that what is queued stays so, or not.
  std::unique_lock<std::mutex> HoldHead() { return std::unique_lock(head_mutex_); }

  /// The URLs of places before it were popped. REQUIRES: HoldHead.
  uint64_t head() const { return head_; }

  /// URLs popped, ever.
  uint64_t num_popped() const;

  /// Takes back the space of what was popped. Stops as UrlSieve::Compact.
  rocksdb::Status Compact(std::atomic<bool>* canceled);

  rocksdb::ColumnFamilyHandle* family() const { return family_; }

 private:
  uint64_t Reserve(uint64_t count);
  void Release(uint64_t first);
  uint64_t FirstOpenPlace() const;
  rocksdb::Status Advance(uint64_t head, uint64_t count);

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const family_;

  mutable std::mutex places_mutex_;
  uint64_t next_place_ = 0;
  std::multiset<uint64_t> reserved_;  // the first of each; one of no places shares it with the next

  mutable std::mutex head_mutex_;  // held before places_mutex_
  uint64_t head_ = 0;
  uint64_t num_popped_ = 0;
  uint64_t cleared_ = 0;  // places before it were deleted
};

}  // namespace blocksieve::sieve
