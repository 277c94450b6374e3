#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "blocksieve/counting_bloom.h"
#include "integration/sieve/shard_record.h"
#include "integration/sieve/sieve_queue.h"

namespace blocksieve::sieve {

/// A URL on its way to its shard.
struct ShardUrl {
  std::string_view url;
  uint64_t hash = 0;   ///< HashKey(url, kSieveSeed).
  uint64_t index = 0;  ///< Among those that are pushed together.
};

/// A part of the URLs seen: a column family, and the counting filter in front of it. The two are
/// kept in step: the filter contains, at least, what the family has.
///
/// May be used by several threads at once, which wait for each other.
class Shard {
 public:
  /// None of the pointers is owned.
  Shard(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, Queue* queue, size_t number)
      : db_(db), family_(family), queue_(queue), number_(number) {}

  /// Reads the counts and the counting filter, or makes the filter of all URLs if it was not saved.
  /// `design_urls` is for a shard that is new. REQUIRES: called first, and once.
  rocksdb::Status Load(uint64_t design_urls);

  /// Writes the URLs that are new, at the places `first_place` + index of the queue, in one batch.
  /// Returns how many were new.
  rocksdb::Status Push(std::span<const ShardUrl> urls, uint64_t first_place, uint64_t* num_new);

  rocksdb::Status Forget(std::span<const ShardUrl> urls, uint64_t* num_forgotten);

  /// As UrlSieve::Compact.
  rocksdb::Status Compact(std::atomic<bool>* canceled);

  /// Writes the counting filter and counts to the database, unless they are there, or the filter is
  /// not known to be right: Load or a write has failed. The next Load makes it anew.
  rocksdb::Status Save();

  ShardRecord record() const;
  CardinalityEstimate EstimateCardinality() const;
  uint64_t counting_filter_bytes() const;
  Status CheckFill() const;

  /// Bytes of the filters of all files. They are in memory as long as these are open.
  rocksdb::Status FileFilterBytes(uint64_t* bytes) const;

 private:
  enum class Answer : uint8_t { kSeen, kNewByCountingFilter, kNewByFileFilters, kNewByReading };

  rocksdb::Status Ask(const ShardUrl& url, Answer* answer, std::string* place) const;
  rocksdb::Status MakeFilter(uint64_t design_urls);
  rocksdb::Status SaveRecord(rocksdb::WriteBatch* batch, const ShardRecord& record);

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const family_;
  Queue* const queue_;
  const size_t number_;

  mutable std::mutex mutex_;
  ShardRecord record_;
  std::optional<CountingBloom> filter_;
  bool is_in_step_ = false;  // the filter has what the family has, and nothing else
  bool is_saved_ = false;    // the database has a filter of what the family has
};

}  // namespace blocksieve::sieve
