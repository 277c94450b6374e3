#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "integration/sieve/sieve_queue.h"
#include "integration/sieve/sieve_shard.h"

namespace blocksieve::sieve {

struct SieveSettings;

/// Filters of the files that hold the URLs seen. Stock Bloom is there to be compared with.
enum class FileFilters : uint8_t { kBlocksieve, kStockBloom };

struct SieveOptions {
  /// Column families that URLs are spread over; pushes work on them in parallel. 1 to 64, and of an
  /// existing sieve what it was created with; 0: that, or 4.
  uint32_t num_shards = 0;

  /// URLs that the counting filters of a new sieve are made for. 1 to 10^10; 0: 20 million.
  uint64_t design_urls = 0;

  FileFilters file_filters = FileFilters::kBlocksieve;
};

struct PushCounts {
  uint64_t new_urls = 0;
  uint64_t repeats = 0;
};

struct ForgetCounts {
  uint64_t forgotten = 0;
  uint64_t not_seen = 0;
};

struct SieveStats {
  uint64_t seen = 0;              ///< Exactly.
  CardinalityEstimate estimated;  ///< The same, as the counting filters have it.
  uint64_t queued = 0;

  // What new URLs were recognised by, ever.
  uint64_t new_by_counting_filter = 0;
  uint64_t new_by_file_filters = 0;
  uint64_t new_by_reading = 0;  ///< A data block was read, or taken from the block cache.
  uint64_t repeats = 0;

  uint64_t counting_filter_bytes = 0;
  uint64_t file_filter_bytes = 0;
  std::string overfull;  ///< What a counting filter says that is; empty if none is.

  uint64_t new_urls() const {
    return new_by_counting_filter + new_by_file_filters + new_by_reading;
  }
  uint64_t filter_bytes() const { return counting_filter_bytes + file_filter_bytes; }
};

/// A persistent queue of URLs to visit, which takes every URL once. integration/sieve/README.md
/// tells how it is stored and what is kept in memory.
///
/// A URL is any string of bytes. What a function has returned from survives the end of the process,
/// however it comes; what Close has returned from survives that of the machine. After an error of a
/// write the sieve must be opened anew.
///
/// All functions but Close may be called by several threads at once.
class UrlSieve {
 public:
  /// Opens the sieve at `path`, or creates it if there is no database; other files are left alone.
  /// Errors: InvalidArgument if an option is out of its range, the number of shards is not the
  /// sieve's, or the database is none; Corruption if there are files of a database without CURRENT;
  /// Aborted if another process created it with other settings meanwhile; RocksDB's, also if
  /// another process has it open.
  static rocksdb::Status Open(const std::string& path, const SieveOptions& options,
                              std::unique_ptr<UrlSieve>* sieve);

  ~UrlSieve();  ///< Closes, if that was not done.

  /// Enqueues those of the URLs that were never pushed, or were forgotten since, in their order;
  /// of equal ones the first. Adds to `*counts`.
  rocksdb::Status Push(std::span<const std::string_view> urls, PushCounts* counts);

  /// Hands out the next URLs, at most `max_urls`, in the order in which they were pushed. `take` is
  /// called with some of them at a time; those are off the queue once it has returned true. On
  /// false they stay, and so they do if the process ends meanwhile: no URL is lost, one may be
  /// handed out twice. `take` must not use the sieve, or it waits for itself; and as long as it
  /// takes, Forget waits, and pushes to what is being forgotten.
  rocksdb::Status Pop(uint64_t max_urls,
                      const std::function<bool(std::span<const std::string>)>& take,
                      uint64_t* num_popped);

  /// Makes the URLs as if they had never been pushed. Those that are queued leave the queue. Adds
  /// to `*counts`.
  rocksdb::Status Forget(std::span<const std::string_view> urls, ForgetCounts* counts);

  /// Rewrites all files into as few as there can be, with filters of the least memory, and
  /// replaces counting filters that are over-full by larger ones. Forgotten and popped URLs take no
  /// more space then. Stops, with Incomplete, if `*canceled` becomes true.
  rocksdb::Status Compact(std::atomic<bool>* canceled = nullptr);

  rocksdb::Status GetStats(SieveStats* stats) const;

  /// Saves the counting filters, or the next Open would have to read all URLs to make them again.
  rocksdb::Status Close();

 private:
  UrlSieve() = default;

  rocksdb::Status OpenDatabase(const std::string& path, const SieveOptions& options);
  rocksdb::Status OpenFamilies(const std::string& path, const rocksdb::DBOptions& options,
                               const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                               const SieveSettings& settings);
  rocksdb::Status ForEachShardInParallel(
      const std::function<rocksdb::Status(size_t shard)>& action) const;
  size_t ShardOf(uint64_t hash) const;
  std::vector<std::vector<ShardUrl>> ByShard(std::span<const std::string_view> urls) const;

  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::unique_ptr<Queue> queue_;
};

}  // namespace blocksieve::sieve
