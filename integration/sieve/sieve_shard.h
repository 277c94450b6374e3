#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "blocksieve/bloom.h"
#include "integration/sieve/sieve_format.h"
#include "integration/sieve/sieve_queue.h"

namespace blocksieve::sieve {

/// Seed of the hash that assigns URLs to shards and to counters. Filters of files use another seed,
/// because the URLs of a shard have the high bits of this hash in common.
inline constexpr uint64_t kSieveSeed = 0x7369657665;

/// The counting filter of a shard: one four-bit counter per five URLs, one position per URL.
///
/// A good filter of counters would take 36 bits per URL, five times as much as the filters of
/// files, which recognise new URLs in a full sieve. This filter only has to count URLs while they
/// come and go, which takes 0.8 bits per URL. As long as the sieve is not full, it also answers for
/// new URLs whose counter is zero, before RocksDB is asked: a third of them at a fifth of the
/// design size. It is over-full a sixteenth beyond the design size.
BloomLayout FrontLayout(uint64_t design_urls);

/// A URL for a shard.
struct ShardUrl {
  std::string_view url;
  uint64_t hash = 0;   ///< HashKey(url, kSieveSeed).
  uint64_t index = 0;  ///< Its number among the URLs that are pushed together.
};

/// A part of the URLs seen: a column family, and a counting filter in front of it. The filter
/// always contains at least what the family has. Thread-safe; threads wait for each other.
class Shard {
 public:
  /// Owns none of the pointers.
  Shard(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, Queue* queue, size_t number)
      : db_(db), family_(family), queue_(queue), number_(number) {}

  /// Reads the counts and the counting filter. If the filter was not saved, makes it from all URLs.
  /// `design_urls` is for a new shard. REQUIRES: called once, before all other functions.
  rocksdb::Status Load(uint64_t design_urls);

  /// Writes the new URLs, at places `first_place` + index of the queue, in one batch, and counts
  /// them in `*num_new`.
  rocksdb::Status Push(std::span<const ShardUrl> urls, uint64_t first_place, uint64_t* num_new);

  rocksdb::Status Forget(std::span<const ShardUrl> urls, uint64_t* num_forgotten);

  /// See UrlSieve::Compact.
  rocksdb::Status Compact(std::atomic<bool>* canceled);

  /// Writes the counting filter and the counts to the database, unless they are there. After a
  /// failed Load or write, the filter may be wrong and is not saved: the next Load makes it again.
  rocksdb::Status Save();

  ShardRecord record() const;
  CardinalityEstimate EstimateCardinality() const;
  uint64_t counting_filter_bytes() const;
  Status CheckFill() const;

  /// The bytes of the filters of all files, which are in memory while the files are open.
  rocksdb::Status FileFilterBytes(uint64_t* bytes) const;

 private:
  enum class Answer : uint8_t { kSeen, kNewByCountingFilter, kNewByFileFilters, kNewByReading };

  rocksdb::Status Ask(const ShardUrl& url, Answer* answer, std::string* place) const;
  rocksdb::Status MakeFilter(uint64_t design_urls);
  rocksdb::Status GrowIfOverfull();
  rocksdb::Status SaveRecord(rocksdb::WriteBatch* batch, const ShardRecord& record);

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const family_;
  Queue* const queue_;
  const size_t number_;

  mutable std::mutex mutex_;
  ShardRecord record_;
  std::optional<CountingBloom> filter_;
  bool is_in_step_ = false;  // the filter has exactly what the family has
  bool is_saved_ = false;    // the database has such a filter
};

}  // namespace blocksieve::sieve
