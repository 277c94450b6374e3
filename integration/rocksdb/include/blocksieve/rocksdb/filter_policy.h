#pragma once

/// \file
/// The filter policy for RocksDB, from C++ and by its name in option strings; its filters of
/// ranges; and the listener that tells it, and skip indexes, what RocksDB does.

#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "blocksieve/sizing.h"
#include "blocksieve/status.h"

namespace blocksieve {

/// The kind of filter that a policy builds: one of BuildableFilterKinds(), or by the life of the
/// file. Kinds differ in size and speed, never in their FPR.
enum class PolicyKind : uint8_t {
  /// Bloom for files that live briefly (flushes), ribbon for all others.
  kAuto = 0,
  /// Blocked Bloom: the fastest to build and to probe.
  kBloom = static_cast<uint8_t>(FilterKind::kBlockedBloom),
  /// Chunk-seeded ribbon: close to the smallest size possible; see lib/RIBBON.md.
  kRibbon = static_cast<uint8_t>(FilterKind::kRibbon),
};

/// Options of a filter policy. Option strings use the same names:
/// "{id=blocksieve;target_fpr=0.01;kind=bloom}", or "blocksieve:0.01" for a target alone.
///
/// Set at most one of `target_fpr`, `wasted_reads` and `bits_per_key`. `target_fpr` holds for every
/// file. The other two give small levels precise filters, and the last level a coarse one or none,
/// which wastes fewer reads in the same memory. They need to know the sizes of the levels: add a
/// listener (NewListener). If none of the three is set, `target_fpr` is 0.01.
struct FilterPolicyOptions {
  /// Share of absent keys that the filter of a file may let through. 1e-7 to 0.5.
  std::optional<double> target_fpr = std::nullopt;

  /// Useless data-block reads per lookup of an absent key in the whole tree: the sum of the
  /// false-positive rates of all sorted runs. 1e-6 to 100. Filters take the least memory that
  /// achieves this.
  std::optional<double> wasted_reads = std::nullopt;

  /// Bits of filters per key of the whole tree. 0.1 to 32. Filters waste the fewest reads that this
  /// memory allows.
  std::optional<double> bits_per_key = std::nullopt;

  /// "auto", "bloom" or "ribbon" in option strings.
  PolicyKind kind = PolicyKind::kAuto;

  /// The most memory that building one filter may take, in bytes: hashes of the keys, working
  /// memory and the finished filter together. 0: no limit. A ribbon that would need more becomes a
  /// Bloom filter of the same FPR. If that needs too much as well, or memory runs out, the file or
  /// the partition gets a few bytes that match everything (`blocksieve inspect` shows
  /// "unreadable"). The info log says so once per file. All of it is charged to the block cache if
  /// cache_usage_options ask for it; where a strict limit has no room, ribbons become Bloom
  /// filters.
  uint64_t max_build_bytes = 0;

  /// Filters answer for ranges, too. It needs the prefix extractor
  /// "blocksieve.range": EnableRangeFilter sets both. RocksDB refuses to open a database with
  /// options that do not go with it.
  bool ranges = false;

  /// Share of short ranges without keys that the filter of a file may let through. 1e-5 to 0.3;
  /// 0.011 if not set. Only with `ranges`, and with neither wasted_reads nor bits_per_key, which
  /// give filters of ranges their rates, too.
  std::optional<double> range_fpr = std::nullopt;

  /// Share of seeks among the reads that find nothing, the others being lookups. 0.01 to 0.99; 0.5
  /// if not set. wasted_reads and bits_per_key are then of both together. Only with `ranges` and
  /// one of these.
  std::optional<double> seek_fraction = std::nullopt;

  /// Ranges are asked by seeks with plain ReadOptions that have an upper bound, too, without
  /// auto_prefix_mode. Files are then written under another name of the extractor, which makes
  /// RocksDB compare the bound; see RANGES.md. Only with `ranges`.
  bool plain_range_reads = false;
};

/// A policy for BlockBasedTableOptions::filter_policy, for full and partitioned filters.
///
/// Adopting it and backing out need no rewrite. Stock RocksDB opens databases written with it and
/// reads its filters as "always may match". The policy in turn reads the filters of stock RocksDB,
/// Bloom and Ribbon. A file keeps the filter that it has until it is rewritten.
///
/// If the loaded RocksDB library is later than 11.9, or has another internal interface than the
/// headers this was compiled with, the policy says so on stderr, builds stock Bloom filters of the
/// same FPR, and reads filters that blocksieve wrote as "may match".
///
/// The policy is immutable, thread-safe and owned by the caller. Filters that it opened may outlive
/// it. EnableFilter (blocksieve/rocksdb.h) puts one in its place, with all else that it needs.
///
/// Errors: InvalidArgument if an option is out of range; ResourceExhausted if memory is short.
BLOCKSIEVE_EXPORT Result<std::shared_ptr<const rocksdb::FilterPolicy>> NewFilterPolicy(
    const FilterPolicyOptions& options);

/// What EnableRangeFilter (blocksieve/rocksdb.h) sets.
struct RangeFilterOptions {
  /// Options of the filter policy. `ranges` is set in any case.
  FilterPolicyOptions policy = {};

  /// Take the place of the prefix extractor that the column family has. Seeks that rely on it,
  /// with prefix_same_as_start or in prefix mode, no longer end where the prefix does.
  bool replace_prefix_extractor = false;
};

/// Makes seeks with these options ask range filters: sets iterate_upper_bound, which has to outlive
/// the iterator, and auto_prefix_mode. It changes no result.
BLOCKSIEVE_EXPORT void PrepareRangeRead(const rocksdb::Slice* upper_bound,
                                        rocksdb::ReadOptions* read_options);

/// Number of range queries that filters answered since the process began, by result. A seek queries
/// each sorted run once.
struct RangeFilterCounts {
  uint64_t no = 0;         ///< No key in the range: no block was read.
  uint64_t may_match = 0;  ///< There may be one.

  // Those that could not tell, and so may match:
  uint64_t beyond_partition = 0;  ///< Nothing here, but the range goes on in the next partition.
  uint64_t no_range_filter = 0;   ///< The file has a filter for points only.
  uint64_t no_bound = 0;          ///< The seek had no upper bound, or no auto_prefix_mode.
  uint64_t empty_begin = 0;       ///< The seek began at the empty key.
  uint64_t untrusted = 0;         ///< RocksDB failed the self-test; stderr told why.

  /// All questions.
  uint64_t asked() const {
    return no + may_match + beyond_partition + no_range_filter + no_bound + empty_begin + untrusted;
  }
};

/// Thread-safe.
BLOCKSIEVE_EXPORT RangeFilterCounts GetRangeFilterCounts();

/// A listener by which blocksieve learns what RocksDB tells neither filter policies nor collectors.
/// It goes into DBOptions::listeners, or into option strings and OPTIONS files as
/// "listeners={blocksieve}".
///
/// Filter policies learn how large the levels are and which of them lookups ask, to spread memory
/// over them (FilterPolicyOptions::wasted_reads and bits_per_key). Without it, a policy learns the
/// last level from the files that it builds, starts over whenever the database is opened, and
/// assumes that each level is size-ratio times as large as the one above. The listener reads the
/// sizes of all files when a flush or a compaction begins. This takes about a microsecond per file
/// under the database's mutex, and at most a fiftieth of the time. RocksDB does not tell listeners
/// when DB::CompactFiles begins, so its output gets rates for the sizes before it.
///
/// Skip indexes learn where their SST is written, and are put into a file beside it (sidecar)
/// rather than into its properties: see SkipIndexOptions::max_property_bytes. The listener deletes
/// the sidecars of SSTs that are deleted and, at the first flush or compaction after the database
/// is opened, those that are left of SSTs that are no more.
///
/// Thread-safe. One listener may serve several databases.
BLOCKSIEVE_EXPORT std::shared_ptr<rocksdb::EventListener> NewListener();

}  // namespace blocksieve

/// Registers the policy, the skip index and the level listener with RocksDB's object registry, so
/// that option strings and OPTIONS files can name them. The shared plug-in does this when it is
/// loaded. A program that links the code statically calls it once. Returns the number of factories
/// registered.
extern "C" BLOCKSIEVE_EXPORT int blocksieve_rocksdb_register(void);
