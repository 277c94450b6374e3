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

/// A database of one contestant: sorted runs that nothing compacts. Wrong answers throw Failure.
class RangeDatabase : public Database {
 public:
  /// `prefix_bytes`: of stock prefix Bloom.
  RangeDatabase(Role role, size_t prefix_bytes, std::filesystem::path path);

  /// Writes each of these as a sorted run, reads all of it, and leaves the database open, cached.
  /// Returns seconds of processor time, by run.
  std::vector<double> Fill(std::span<const SortedKeys> runs);

  /// How often the info log said, since Open, that a file got no range filter.
  uint64_t refusals() const;

  /// Reads all keys in the range. Returns how many it holds.
  uint64_t Scan(const Range& range);

  void Put(const std::string& key);

  /// By the clock if cold, else of processor time, to which other work on the machine adds less.
  double Seconds(const Stopwatch& stopwatch) const {
    return reads() == Reads::kCold ? stopwatch.Seconds() : stopwatch.CpuSeconds();
  }

  /// Seconds per range of scans, each of which finds `keys_in_each` keys.
  double TimeScans(std::span<const Range> ranges, uint64_t keys_in_each);

  /// Data blocks per range of such scans, read or cached.
  double CountBlocks(std::span<const Range> ranges, uint64_t keys_in_each);

  /// Seconds per lookup of keys, all of which are present, or none.
  double TimeGets(std::span<const std::string> keys, bool are_present);

 private:
  const Role role_;
};

}  // namespace blocksieve::bench::ranges
