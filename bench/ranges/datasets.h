#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace blocksieve::bench::ranges {

using Random = std::mt19937_64;
using SortedKeys = std::vector<std::string>;

/// Number of sorted runs of every database.
inline constexpr uint64_t kRuns = 8;

/// The keys in [begin, end).
struct Range {
  std::string begin;
  std::string end;
};

/// Seeks of one kind.
struct Seeks {
  std::string name;
  std::vector<Range> ranges;
  uint64_t keys_in_each = 0;
};

/// Keys as sorted runs, and seeks in them. Figures that compare contestants are those of the first
/// kind of seeks.
struct Dataset {
  std::string name;      ///< For the tables.
  std::string prefixes;  ///< The option `prefixes`; empty: the keys have none.
  std::vector<SortedKeys> runs;
  std::vector<Seeks> seeks;
  size_t num_compacted = 0;  ///< The first runs; the others are files of flushes.

  SortedKeys AllKeys() const;
};

/// Random integers of eight bytes, with empty ranges that are as long as those that hold 0.001,
/// 0.01, 0.1 and 1 keys on average, first in a mixture of all; empty ranges right after keys; and
/// ranges whose only key is their last.
Dataset Integers(uint64_t num_keys, size_t num_seeks, uint64_t seed);

/// The range from a key of Integers that holds this many of `num_keys` on average.
Range IntegerRange(const std::string& begin, double expected_keys, uint64_t num_keys);

/// Sets of at most `num_keys` keys with prefixes. Throws Failure without this machine's dpkg lists.
std::vector<Dataset> StructuredKeys(uint64_t num_keys, size_t num_seeks, uint64_t seed);

/// Distributes the keys at random over kRuns runs of equal size.
std::vector<SortedKeys> RandomRuns(SortedKeys keys, uint64_t seed);

/// Where each of the first boundaries of `key` ends, by the option `prefixes`.
std::vector<size_t> BoundariesOf(std::string_view prefixes, std::string_view key);

/// A prefix of keys that a filter has: one of a number of bytes, or one that ends at a boundary.
struct PrefixRule {
  std::string prefixes = {};  ///< The option; empty: `length` counts bytes, otherwise boundaries.
  size_t length = 0;

  /// The prefix of a key; empty if it has none.
  std::string_view Of(std::string_view key) const;

  /// Whether all keys of a range have its prefix.
  bool Covers(const Range& range) const;

  /// Data blocks per seek with an ideal filter, one without false positives, of these prefixes.
  double IdealBlocks(const Dataset& dataset, const Seeks& seeks) const;
};

/// The rule of the fewest ideal blocks, for a filter of one prefix per key.
PrefixRule BestRule(const Dataset& dataset);

}  // namespace blocksieve::bench::ranges
