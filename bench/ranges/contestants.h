#pragma once

#include <rocksdb/options.h>

#include <cstddef>
#include <span>

#include "bench/ranges/range_queries.h"

namespace blocksieve::bench::ranges {

/// What a contestant stands for in the comparison, in the order of the tables.
enum class Role {
  kNoFilter,
  kPrefixBloom,  ///< Stock Bloom, 10 bits, of keys and of prefixes.
  kFirstKey,     ///< No filter; an index with the first key of each block.
  kPoints,       ///< blocksieve without ranges: the base of what ranges add.
  kRanges,
  kPointsPartitioned,
  kPrefixBloomPartitioned,
  kRangesPartitioned,
};
inline constexpr size_t kNumRoles = 8;

/// For the tables.
const char* RoleName(Role role);

constexpr bool HasRanges(Role role) {
  return role == Role::kRanges || role == Role::kRangesPartitioned;
}

/// Whether filters and indexes are cut into partitions.
constexpr bool IsPartitioned(Role role) { return role >= Role::kPointsPartitioned; }

/// Whether seeks are measured. With filters of points in one piece they are those of no filter;
/// with partitions, the index is another.
constexpr bool IsSought(Role role) { return role != Role::kPoints; }

/// Whether point lookups are measured.
constexpr bool IsLookedUp(Role role) { return role >= Role::kPoints; }

/// Sets filter policy, index and prefix extractor in options of a Database. `prefix_bytes`: of
/// stock prefix Bloom. Throws Failure.
void SetUp(Role role, size_t prefix_bytes, rocksdb::Options& options);

/// Options of a seek of the contestant that ends at `*end`, which has to outlive it.
rocksdb::ReadOptions SeekOptions(Role role, const rocksdb::Slice* end);

/// Data blocks per seek in these ranges, which are empty, that a filter of prefixes of `bytes`
/// bytes leaves in sorted runs of these keys, if it has no false positives at all.
double BlocksWithPrefixes(std::span<const SortedKeys> runs, std::span<const Range> ranges,
                          size_t bytes);

}  // namespace blocksieve::bench::ranges
