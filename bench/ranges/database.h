#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "bench/ranges/datasets.h"
#include "bench/support/database.h"
#include "bench/support/measure.h"
#include "blocksieve/rocksdb.h"

namespace blocksieve::bench::ranges {

/// The contestants, in the order of the tables.
enum class Role {
  kNoFilter,
  kPrefixBloom,    ///< Stock Bloom of 10 bits for keys and for the prefixes of BestRule.
  kFirstKey,       ///< No filter; an index with the first key of each block.
  kSegmentBounds,  ///< No filter; SstQueryFilterConfigs. Only for keys with prefixes.
  kPoints,         ///< blocksieve without range filters: the baseline for their cost.
  kRanges,
  kPrefixes,  ///< Only for keys with prefixes, as the next one.
  kPrefixesAndRanges,
  kBlockIndex,  ///< Points, and a block index of ranges or, for keys with prefixes, of prefixes.
};

/// The name in tables.
const char* RoleName(Role role);

/// All roles that a set of keys has.
std::vector<Role> RolesFor(const Dataset& dataset);

/// Whether filters or indexes answer range queries.
constexpr bool HasRanges(Role role) { return role >= Role::kRanges; }

/// One contestant's database: sorted runs that are never compacted. Wrong answers throw Failure.
class RangeDatabase : public Database {
 public:
  /// `rule`: the prefixes of kPrefixBloom.
  RangeDatabase(Role role, PrefixRule rule, std::filesystem::path path);

  /// Writes each run as a file, the first ones by a compaction, reads everything, and leaves the
  /// database open and cached. Returns seconds of processor time. REQUIRES: compacted runs have
  /// disjoint key ranges.
  double Fill(const Dataset& dataset);

  /// Reads all keys in the range. Returns their number.
  uint64_t Scan(const Range& range);

  void Put(const std::string& key);

  uint64_t FileBytes();  ///< Size of all files.

  /// Memory that opening the database took at its peak.
  double opening_bytes() const { return opening_bytes_; }

  /// Wall-clock time if cold; else processor time, which other work on the machine affects less.
  double Seconds(const Stopwatch& stopwatch) const {
    return reads() == Reads::kCold ? stopwatch.Seconds() : stopwatch.CpuSeconds();
  }

  /// Seconds per seek.
  double TimeSeeks(const Seeks& seeks);

  /// Data blocks per seek, read or cached.
  double CountBlocks(const Seeks& seeks);

  /// The same in a MultiScan of 50 ranges at a time.
  double CountMultiScanBlocks(const Seeks& seeks);

  /// Seconds per lookup. REQUIRES: all keys are present, or all are absent.
  double TimeGets(std::span<const std::string> keys, bool are_present);

 private:
  rocksdb::ReadOptions SeekOptions(const Range& range, const rocksdb::Slice* end);

  const Role role_;
  const PrefixRule rule_;
  double opening_bytes_ = 0;
  std::shared_ptr<ReadPruning> by_index_;  // reads by a block index
};

}  // namespace blocksieve::bench::ranges
