#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "bench/ranges/range_queries.h"
#include "bench/support/database.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::ranges {

/// The contestants, in the order of the tables.
enum class Role {
  kNoFilter,
  kPrefixBloom,  ///< Stock Bloom of 10 bits for keys and prefixes.
  kFirstKey,     ///< No filter; an index with the first key of each block.
  kPoints,       ///< blocksieve without range filters: the baseline for their cost.
  kRanges,
  kPointsPartitioned,
  kPrefixBloomPartitioned,
  kRangesPartitioned,
  // For structured keys:
  kPrefixes,
  kPrefixesAndRanges,
  kSegmentBounds,  ///< No filter; segment_bounds.h.
};
inline constexpr size_t kNumRoles = 8;  ///< Without those for structured keys.

/// The name in tables.
const char* RoleName(Role role);

/// Whether filters answer range queries.
constexpr bool HasRanges(Role role) {
  return role == Role::kRanges ||
         (role >= Role::kRangesPartitioned && role != Role::kSegmentBounds);
}

/// Whether filters and indexes are partitioned.
constexpr bool IsPartitioned(Role role) {
  return role >= Role::kPointsPartitioned && role <= Role::kRangesPartitioned;
}

/// Whether seeks are measured. Full point filters do not change them; partitioned indexes do.
constexpr bool MeasuresSeeks(Role role) { return role != Role::kPoints; }

/// Whether point lookups are measured.
constexpr bool MeasuresLookups(Role role) { return role >= Role::kPoints; }

/// The prefixes of a contestant.
struct Prefixes {
  size_t bytes = 0;         ///< Length of those of kPrefixBloom.
  std::string option = {};  ///< For structured keys: the option `prefixes`,
  size_t depth = 0;         ///< and the boundary, from 1 on, at which those of kPrefixBloom end.
};

/// One contestant's database: sorted runs that are never compacted. Wrong answers throw Failure.
class RangeDatabase : public Database {
 public:
  RangeDatabase(Role role, Prefixes prefixes, std::filesystem::path path);

  /// Writes each of `runs` as a sorted run, the first `num_compacted` of them by a compaction,
  /// reads everything, and leaves the database open and cached. Returns seconds of processor time,
  /// by run. REQUIRES: compacted runs have disjoint key ranges
  std::vector<double> Fill(std::span<const SortedKeys> runs, size_t num_compacted = 0);

  /// Number of messages in the info log, since Open, that a file got no range filter.
  uint64_t refusals() const;

  /// Reads all keys in the range. Returns their number.
  uint64_t Scan(const Range& range);

  void Put(const std::string& key);

  /// Wall-clock time if cold; else processor time, which other work on the machine affects less.
  double Seconds(const Stopwatch& stopwatch) const {
    return reads() == Reads::kCold ? stopwatch.Seconds() : stopwatch.CpuSeconds();
  }

  /// Seconds per scan of a range. REQUIRES: each range holds `keys_in_each` keys.
  double TimeScans(std::span<const Range> ranges, uint64_t keys_in_each);

  /// Data blocks per scan of a range, read or cached. REQUIRES: as for TimeScans.
  double CountBlocks(std::span<const Range> ranges, uint64_t keys_in_each);

  /// Seconds per lookup. REQUIRES: all keys are present, or all are absent.
  double TimeGets(std::span<const std::string> keys, bool are_present);

 private:
  rocksdb::ReadOptions SeekOptions(const Range& range, const rocksdb::Slice* end) const;

  const Role role_;
  const Prefixes prefixes_;
};

}  // namespace blocksieve::bench::ranges
