#pragma once  // SPDX-License-Identifier: Apache-2.0

/// \file
/// The RocksDB filter policy, its range filters, and the listener that the policy and skip indexes
/// need. blocksieve/rocksdb.h has one call that sets everything for a feature.

#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "blocksieve/sizing.h"
#include "blocksieve/status.h"

namespace blocksieve {

/// Options of a filter policy. Option strings use the same names:
/// "{id=blocksieve;target_fpr=0.01;kind=bloom}", or "blocksieve:0.01" for a target alone.
///
/// Set at most one of `target_fpr`, `wasted_reads` and `bits_per_key`; if none is set, `target_fpr`
/// is 0.01. `target_fpr` holds for every file. The other two depend on the sizes of the levels
/// (LEVELS.md): add a listener (NewListener).
struct FilterPolicyOptions {
  /// FPR of each file's filter. 1e-7 to 0.5.
  std::optional<double> target_fpr = std::nullopt;

  /// Wasted data-block reads per lookup of an absent key in the whole tree: the sum of the FPRs of
  /// all sorted runs. 1e-6 to 100. Filters use the least memory that achieves this.
  std::optional<double> wasted_reads = std::nullopt;

  /// Filter bits per key, averaged over the whole tree. 0.1 to 32. Filters waste the fewest reads
  /// that this memory allows. With `ranges` at least 4.7 (Bloom: 5.2), as the coarsest filters take
  /// that. Prefixes may take more than all of it: the info log and CheckFilters say how much.
  std::optional<double> bits_per_key = std::nullopt;

  /// kAuto, kBlockedBloom, kRibbon or kStock; "auto", "bloom", "ribbon" or "stock" in option
  /// strings. Kinds differ in size and speed, never in their false-positive rate (FPR). kStock:
  /// RocksDB's own filters with the bits that the goal gives each file, which RocksDB alone builds
  /// and reads, also without blocksieve. It excludes `max_build_bytes`, `ranges` and `prefixes`,
  /// and rounds rates down (LEVELS.md).
  FilterKind kind = FilterKind::kAuto;

  /// Maximum memory for building one filter, in bytes: key hashes, working memory and the finished
  /// filter. 0: no limit. A ribbon that needs more becomes a Bloom filter of the same FPR. If that
  /// needs too much as well, or memory runs out, the file or partition gets a few bytes that match
  /// everything (`blocksieve inspect` shows "unreadable"). The info log reports both once per file.
  uint64_t max_build_bytes = 0;

  /// Build range filters too. Needs the prefix extractor "blocksieve.range"; EnableRangeFilter sets
  /// both. RocksDB refuses to open a database whose other options rule range filters out.
  bool ranges = false;

  /// FPR of each file's range filter for short ranges. 1e-5 to 0.3; 0.011 if not set. Needs
  /// `ranges`. Incompatible with wasted_reads and bits_per_key, which choose this rate themselves.
  std::optional<double> range_fpr = std::nullopt;

  /// Share of seeks among the reads that find nothing; the others are lookups. 0.01 to 0.99; 0.5 if
  /// not set. Divides the goal between both. Needs `ranges` and wasted_reads or bits_per_key.
  std::optional<double> seek_fraction = std::nullopt;

  /// Rule that finds prefixes of keys, at up to 16 depths; empty, or "none" in option strings:
  /// none. Bounded seeks below an absent prefix read nothing, with or without `ranges`. Needs the
  /// prefix extractor "blocksieve.range", as `ranges` does. RANGES.md says which to choose.
  ///   "delimiter:/"            prefixes end after each "/"; special bytes are written %XX
  ///   "delimiter:/,depth:3"    after the first three
  ///   "lengths:4,12"           after 4 and after 12 bytes
  ///   "fields:len8,2,len32,8"  after the last field, or each one with "*": sizes in bytes, or
  ///                            lengths of 8, 16 or 32 bits before the content: big-endian, or
  ///                            little-endian as in "len32le"; ",*" at the end, for the rest of
  ///                            the key, changes nothing
  ///   "auto"                   a delimiter or length for each file, for at most 0.3 bits per key
  std::string prefixes = {};

  /// Maximum FPR of prefixes, which is never above that of keys. 1e-7 to 0.5. If not set: 0.01, and
  /// 0.0001 where prefixes are few (RANGES.md). With bits_per_key, prefixes take their bits from
  /// keys, and the FPR of both rises. Needs `prefixes`.
  std::optional<double> prefix_fpr = std::nullopt;

  /// Bounded seeks use range filters even without auto_prefix_mode; RANGES.md says how. Needs
  /// `ranges` or `prefixes`.
  bool plain_range_reads = false;
};

/// A policy for BlockBasedTableOptions::filter_policy, for full and partitioned filters. Immutable,
/// thread-safe, owned by the caller; filters that it opened may outlive it.
///
/// Files keep their filters until they are rewritten: stock RocksDB reads blocksieve's as "always
/// may match", and the policy reads stock Bloom and Ribbon filters. If the loaded RocksDB has
/// another filter interface than the headers this was compiled with, the policy builds RocksDB's
/// own filters, and says so on stderr (COMPATIBILITY.md).
///
/// Errors, which leave `policy` as it was: InvalidArgument if an option is out of range;
/// MemoryLimit if memory is short.
BLOCKSIEVE_EXPORT rocksdb::Status NewFilterPolicy(
    const FilterPolicyOptions& options, std::shared_ptr<const rocksdb::FilterPolicy>* policy);

/// Options of EnableRangeFilter (blocksieve/rocksdb.h).
struct RangeFilterOptions {
  /// Options of the filter policy; `ranges` is set unless `prefixes` is.
  FilterPolicyOptions policy = {};

  /// Replace the column family's prefix extractor. Seeks that rely on the old one, with
  /// prefix_same_as_start or in prefix mode, no longer end where the prefix does.
  bool replace_prefix_extractor = false;
};

/// Makes seeks use range filters; changes no result, but slows down a MultiScan (RANGES.md). Sets
/// auto_prefix_mode and iterate_upper_bound, which must outlive the iterator. Ignores null options.
BLOCKSIEVE_EXPORT void PrepareRangeRead(const rocksdb::Slice* upper_bound,
                                        rocksdb::ReadOptions* read_options);

/// Results of the range queries of this process. A seek queries each sorted run once.
struct RangeFilterCounts {
  uint64_t no = 0;         ///< No key in the range: no block was read.
  uint64_t may_match = 0;  ///< There may be a key in the range.
  // Queries that no filter could answer, so that the range may match:
  uint64_t beyond_partition = 0;  ///< No key in this partition, but the range extends to the next.
  uint64_t no_range_filter = 0;   ///< The file has a key filter only.
  uint64_t no_bound = 0;          ///< The seek had no upper bound, or no auto_prefix_mode.
  uint64_t empty_begin = 0;       ///< The seek began at the empty key.
  uint64_t untrusted = 0;         ///< RocksDB failed the self-test; stderr has the reason.

  /// All range queries.
  uint64_t total() const {
    return no + may_match + beyond_partition + no_range_filter + no_bound + empty_begin + untrusted;
  }
};

BLOCKSIEVE_EXPORT RangeFilterCounts GetRangeFilterCounts();  ///< Since the process began.

/// A listener for DBOptions::listeners ("listeners={blocksieve}" in option strings and OPTIONS
/// files). Thread-safe; one may serve several databases.
///
/// It reports the level sizes, and which levels lookups reach, to policies with wasted_reads or
/// bits_per_key, which otherwise assume them (LEVELS.md). It reads all file sizes when a flush or
/// compaction begins, for about a microsecond per file under the database's mutex, and at most a
/// fiftieth of the time. It also writes and deletes the sidecars of skip indexes (README.md).
BLOCKSIEVE_EXPORT std::shared_ptr<rocksdb::EventListener> NewListener();

}  // namespace blocksieve

/// Registers the policy, extractor, skip index and listener with RocksDB's object registry, so that
/// option strings and OPTIONS files can name them. The shared plug-in does this when it is loaded;
/// a statically linked program calls it once. Returns the number of factories registered.
extern "C" BLOCKSIEVE_EXPORT int blocksieve_rocksdb_register(void);
