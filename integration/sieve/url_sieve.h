#pragma once  // SPDX-License-Identifier: Apache-2.0

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

struct SieveOptions {
  /// Initial design size of a new sieve's counting filters, in URLs. They grow with the sieve, each
  /// time by reading all URLs of their shard once. 1 to 10^10; 0: 65,536.
  uint64_t design_urls = 0;

  /// Whether Open creates a missing sieve.
  bool create_if_missing = true;
};

struct UrlCounts {
  uint64_t new_urls = 0;
  uint64_t known = 0;  ///< URLs that the sieve had: repeats in a push, or forgotten.
};

/// A persistent queue of URLs to visit that accepts every URL once. integration/sieve/README.md
/// describes its storage and memory.
///
/// A URL is any string of bytes. Changes survive the end of the process once the function has
/// returned, and the end of the machine once Close has returned. After a failed write, the sieve
/// must be opened again.
///
/// All functions but Close are thread-safe.
class UrlSieve {
 public:
  /// Opens the sieve at `path`, or creates it if there is no database; leaves other files alone.
  /// Errors: NotFound if it may not create one; InvalidArgument if an option is out of range, or
  /// the database is not a sieve; Corruption if there are database files but no CURRENT; errors of
  /// RocksDB, for example if another process has the database open.
  static rocksdb::Status Open(const std::string& path, const SieveOptions& options,
                              std::unique_ptr<UrlSieve>* sieve);

  ~UrlSieve();  ///< Closes the sieve if Close was not called.

  /// Enqueues, in order, the URLs that were never pushed or have been forgotten; of equal URLs the
  /// first. Adds to `*counts`.
  rocksdb::Status Push(std::span<const std::string_view> urls, UrlCounts* counts);

  /// Hands out the next URLs, at most `max_urls`, in the order in which they were pushed. Calls
  /// `take` for some at a time and removes them from the queue if it returns true. If it returns
  /// false or the process ends, they stay: no URL is lost, but some may be handed out twice. `take`
  /// must not use the sieve (deadlock). Forget waits for it, and so do pushes to a shard that
  /// Forget is working on.
  rocksdb::Status Pop(uint64_t max_urls,
                      const std::function<bool(std::span<const std::string>)>& take,
                      uint64_t* num_popped);

  /// Removes the URLs, also from the queue, as if they had never been pushed. Adds to `*counts`.
  rocksdb::Status Forget(std::span<const std::string_view> urls, UrlCounts* counts);

  /// Compacts all files, which frees the space of forgotten and popped URLs and minimises the file
  /// filters. Replaces overfull counting filters with larger ones. Stops with Incomplete if
  /// `*canceled` becomes true. `progress`, if set, gets the number of parts done and of all parts.
  rocksdb::Status Compact(std::atomic<bool>* canceled = nullptr,
                          const std::function<void(size_t done, size_t all)>& progress = nullptr);

  rocksdb::Status GetStats(SieveStats* stats) const;

  /// Saves the counting filters and closes the database. Without saved filters, the next Open
  /// rebuilds them by reading all URLs.
  rocksdb::Status Close();

 private:
  UrlSieve() = default;

  rocksdb::Status OpenDatabase(const std::string& path, const SieveOptions& options);
  rocksdb::Status OpenFamilies(const std::string& path, const rocksdb::DBOptions& options,
                               const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                               bool is_new);
  rocksdb::Status ForEachShardInParallel(
      const std::function<rocksdb::Status(size_t shard)>& action) const;
  std::vector<std::vector<ShardUrl>> GroupByShard(std::span<const std::string_view> urls) const;

  rocksdb::Status RecordFailure(rocksdb::Status status);

  std::unique_ptr<rocksdb::Env> env_;  // changes only files of the sieve
  std::unique_ptr<rocksdb::DB> db_;
  std::atomic<bool> has_failed_ = false;  // after an I/O error
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::unique_ptr<Queue> queue_;
};

}  // namespace blocksieve::sieve
