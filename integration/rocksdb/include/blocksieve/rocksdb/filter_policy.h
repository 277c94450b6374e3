#pragma once

/// \file
/// The filter policy for RocksDB, and how programs that know only its name come by it.

#include <rocksdb/filter_policy.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "blocksieve/rocksdb/export.h"

namespace blocksieve {

/// Which kind of filter a policy builds. The kinds differ in size and speed, never in the FPR.
enum class PolicyKind : uint8_t {
  kAuto,    ///< Bloom where a file is short-lived (flushes), ribbon where it stays.
  kBloom,   ///< Blocked Bloom: the fastest to build and to probe.
  kRibbon,  ///< Chunk-seeded ribbon: close to the least space there is; see lib/RIBBON.md.
};

/// Options of a filter policy. The same names serve in option strings:
/// "{id=blocksieve;target_fpr=0.01;kind=bloom}", or "blocksieve:0.01" for a target alone.
///
/// How precise filters are is said in one of three ways: `target_fpr`, the same for every file, or
/// `wasted_reads` or `bits_per_key`, which give small levels precise filters and the last one a
/// coarse one, or none. That takes fewer wasted reads for the same memory; have a LevelListener
/// (level_listener.h) tell the policy the sizes of the levels. None of the three: target_fpr 0.01.
struct FilterPolicyOptions {
  /// Share of absent keys, per file, that the filter may let through. 1e-7 to 0.5.
  std::optional<double> target_fpr = std::nullopt;

  /// Useless data-block reads per lookup of an absent key, over the whole tree: the sum of the
  /// false-positive rates of all sorted runs. 1e-6 to 100. The memory is the least that does.
  std::optional<double> wasted_reads = std::nullopt;

  /// Bits of filters per key, over the whole tree. 0.1 to 32. The wasted reads are the fewest that
  /// so much memory allows.
  std::optional<double> bits_per_key = std::nullopt;

  /// "auto", "bloom" or "ribbon" in option strings.
  PolicyKind kind = PolicyKind::kAuto;

  /// Most memory that building one filter may take, in bytes: hashes of the keys, working memory
  /// and finished filter together. A ribbon that would need more becomes a Bloom filter of the same
  /// FPR. If that needs more, too, the file, or its partition, gets a few bytes that match
  /// everything (`blocksieve inspect`: unreadable). The info log says so, once a file. 0: no limit
  /// but the memory there is, beyond which it is the same.
  uint64_t max_build_bytes = 0;
};

/// A policy for BlockBasedTableOptions::filter_policy, for full and partitioned filters.
///
/// Databases written with it open in stock RocksDB, which reads its filters as "always may match",
/// and filters that stock RocksDB wrote, Bloom or Ribbon, go on working under it: adopting it, and
/// backing out, needs no rewrite, but files keep the filters they have until they are rewritten.
///
/// If the RocksDB library that is loaded is later than 11.9, or has another internal interface than
/// the headers this was compiled with, the policy builds stock Bloom filters of the same FPR
/// instead, takes those that blocksieve wrote for "may match", and says so on stderr.
///
/// Returns nullptr if an option is out of its range, with the reason in `*status`, or on stderr if
/// `status` is null. The policy is immutable, thread-safe, and owned by the caller; filters that it
/// opened may outlive it.
BLOCKSIEVE_EXPORT std::shared_ptr<const rocksdb::FilterPolicy> NewFilterPolicy(
    const FilterPolicyOptions& options, rocksdb::Status* status = nullptr);

}  // namespace blocksieve

/// Registers the policy with RocksDB's object registry under the id "blocksieve", so that option
/// strings and OPTIONS files can name it. The shared plug-in does this when it is loaded; a program
/// that links the code statically calls it once. Returns the number of factories registered.
extern "C" BLOCKSIEVE_EXPORT int blocksieve_rocksdb_register(void);
