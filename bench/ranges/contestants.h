#pragma once

#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/ranges/key_sets.h"

namespace blocksieve::bench::ranges {

/// What a contestant stands for in the comparison.
enum class Role {
  kNoFilter,
  kPrefixBloom,  ///< Stock Bloom, 10 bits, of keys and of prefixes.
  kPrefixBloomPartitioned,
  kFirstKey,  ///< No filter; an index with the first key of each block.
  kPoints,    ///< blocksieve without ranges: what those below add is against these.
  kPointsPartitioned,
  kRanges,
  kRangesPartitioned,
};

inline constexpr Role kAllRoles[] = {Role::kNoFilter,
                                     Role::kPrefixBloom,
                                     Role::kFirstKey,
                                     Role::kPoints,
                                     Role::kRanges,
                                     Role::kPointsPartitioned,
                                     Role::kPrefixBloomPartitioned,
                                     Role::kRangesPartitioned};

/// For the tables.
const char* RoleName(Role role);

/// Whether seeks are measured. Those of filters of points in one piece are those of no filter; with
/// partitions, the index is another.
constexpr bool IsSought(Role role) { return role != Role::kPoints; }

/// Whether point lookups are measured.
constexpr bool IsLookedUp(Role role) { return role >= Role::kPoints; }

/// Whether filters and indexes are cut into partitions.
constexpr bool IsPartitioned(Role role) {
  return role == Role::kPrefixBloomPartitioned || role == Role::kPointsPartitioned ||
         role == Role::kRangesPartitioned;
}

/// A prefix extractor of this many bytes, for stock Bloom. `shortest_key`: of all, in bytes.
std::shared_ptr<const rocksdb::SliceTransform> PrefixExtractor(size_t bytes, size_t shortest_key);

/// Sets filter policy, index and prefix extractor. `table` is what they are put into, and goes into
/// `options`. Throws Failure.
void SetUp(Role role, const std::shared_ptr<const rocksdb::SliceTransform>& extractor,
           rocksdb::BlockBasedTableOptions table, rocksdb::Options* options);

/// Of a seek of the contestant that ends at `*end`, which has to outlive it.
rocksdb::ReadOptions SeekOptions(Role role, const rocksdb::Slice* end);

/// Data blocks per seek in these ranges, which are empty, that a filter of prefixes of `bytes`
/// bytes leaves in sorted runs of these keys, if it has no false positives at all.
double BlocksWithPrefixes(std::span<const std::vector<std::string>> runs,
                          const std::vector<Range>& ranges, size_t bytes);

}  // namespace blocksieve::bench::ranges
