#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/ranges/key_sets.h"
#include "bench/ranges/range_queries.h"

namespace blocksieve::bench::ranges {

/// Seeks of one kind.
struct Seeks {
  std::string name;
  std::vector<Range> ranges;
  uint64_t keys_in_each = 0;
};

/// Keys with declared prefixes, as sorted runs, and seeks in them.
struct StructuredKeys {
  std::string name;      ///< For the tables.
  std::string prefixes;  ///< The option `prefixes`.
  std::vector<SortedKeys> runs;
  std::vector<Seeks> seeks;
  size_t num_compacted = 0;  ///< The first runs; the others are files of flushes.

  uint64_t num_keys() const;
};

/// All sets, of at most `num_keys` keys each. Throws Failure without the machine's dpkg lists.
std::vector<StructuredKeys> MakeStructuredKeys(uint64_t num_keys, size_t num_seeks, uint64_t seed);

/// Where each of the first boundaries of `key` ends, by the option `prefixes`, up to kMaxPrefixes.
std::vector<size_t> BoundariesOf(std::string_view prefixes, std::string_view key);

/// The number of boundaries that all keys of a range share.
size_t DepthOf(std::string_view prefixes, const Range& range);

/// Runs per seek that hold a key with the prefix of the range that ends at boundary `depth`, from 1
/// on, or at its last one if `depth` is 0; all runs for a range without this boundary.
double RunsWithPrefix(const StructuredKeys& set, const Seeks& seeks, size_t depth);

}  // namespace blocksieve::bench::ranges
