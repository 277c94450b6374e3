#pragma once  // SPDX-License-Identifier: Apache-2.0

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

/// Seed of the hash that assigns URLs to shards and to counters. File filters use another seed,
/// because the URLs of a shard share the high bits of this hash.
inline constexpr uint64_t kSieveSeed = 0x7369657665;

/// The counts of a shard, written in one batch with the URLs that they count.
struct ShardRecord {
  uint64_t seen = 0;       ///< URLs in the shard now.
  uint64_t enqueued = 0;   ///< URLs that the shard ever enqueued.
  uint64_t withdrawn = 0;  ///< Enqueued URLs that were forgotten before they were popped.
  // How new URLs were recognised since the sieve was created.
  uint64_t new_by_counting_filter = 0;
  uint64_t new_by_file_filters = 0;
  uint64_t new_by_reading = 0;  ///< A data block was read, or taken from the block cache.
  uint64_t repeats = 0;
  uint64_t design_urls = 0;  ///< Design size of the counting filter, in URLs.

  void Add(const ShardRecord& other);

  std::string Encode() const;
  static std::optional<ShardRecord> Decode(std::string_view text);
};

/// The counts of all shards.
struct SieveStats : ShardRecord {
  CardinalityEstimate estimated;  ///< Of `seen`, by the counting filters.
  uint64_t queued = 0;
  uint64_t counting_filter_bytes = 0;
  uint64_t file_filter_bytes = 0;
  std::string overfull;  ///< Message of an overfull counting filter; empty if there is none.

  uint64_t new_urls() const {
    return new_by_counting_filter + new_by_file_filters + new_by_reading;
  }
  uint64_t filter_bytes() const { return counting_filter_bytes + file_filter_bytes; }
};

/// A URL of a shard.
struct ShardUrl {
  std::string_view url;
  uint64_t hash = 0;   ///< HashKey(url, kSieveSeed).
  uint64_t index = 0;  ///< Index among the URLs that are pushed together.

  bool operator==(const ShardUrl& other) const { return url == other.url; }
};

/// A part of the URLs seen: a column family, and a counting filter in front of it. The filter
/// contains at least the URLs of the family. Thread-safe; threads wait for each other.
class Shard {
 public:
  /// Does not own its arguments.
  Shard(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, Queue* queue, size_t number)
      : db_(db), family_(family), queue_(queue), number_(number) {}

  /// Reads the counts and the counting filter. If the filter was not saved, rebuilds it from all
  /// URLs. `design_urls` is for a new shard. REQUIRES: called once, before all other functions.
  rocksdb::Status Load(uint64_t design_urls);

  /// Writes the new URLs in one batch, at queue positions `first_position` + index. Sets `*num_new`
  /// to their number.
  rocksdb::Status Push(std::span<const ShardUrl> urls, uint64_t first_position, uint64_t* num_new);

  rocksdb::Status Forget(std::span<const ShardUrl> urls, uint64_t* num_forgotten);

  /// See UrlSieve::Compact.
  rocksdb::Status Compact(std::atomic<bool>* canceled);

  /// Writes the counting filter and the counts to the database unless they are saved. After a
  /// failed Load or write, the filter may be wrong and is not saved: the next Load rebuilds it.
  rocksdb::Status Save();

  /// Adds the shard's figures, all but `queued`.
  rocksdb::Status AddTo(SieveStats* stats) const;

 private:
  enum class UrlState : uint8_t { kSeen, kNewByCountingFilter, kNewByFileFilters, kNewByReading };

  rocksdb::Status Classify(const ShardUrl& url, UrlState* state, std::string* position) const;
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
  bool is_in_sync_ = false;  // the filter has exactly the URLs of the family
  bool is_saved_ = false;    // the database has this filter
};

}  // namespace blocksieve::sieve
