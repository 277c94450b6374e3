#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/hash.h"
#include "blocksieve/status.h"

/// \file
/// Bloom filters to which keys can be added at any time, and from which they can be removed.
/// Errors, unless a function has others: InvalidArgument, naming the value that is out of range,
/// and ResourceExhausted if out of memory.

namespace blocksieve {

/// Maximum bits of a classic or counting Bloom filter: what fits a serialized form below 4 GiB.
inline constexpr uint64_t kMaxBloomBits = (UINT64_C(1) << 35) - 1024;

/// Maximum bits or counters per key (k).
inline constexpr uint32_t kMaxBloomProbes = 32;

/// Layout of a classic or counting Bloom filter.
struct BLOCKSIEVE_EXPORT BloomLayout {
  uint64_t num_bits = 0;     ///< Number of bits or counters (m), 1 to kMaxBloomBits.
  uint32_t num_probes = 0;   ///< Bits or counters per key (k), 1 to kMaxBloomProbes.
  uint64_t hash_seed = 0;    ///< Seed of HashKey.
  uint64_t design_keys = 0;  ///< Capacity in distinct keys (>= 1); beyond it: overfull.

  /// A layout whose false-positive rate (FPR) is at most `target_fpr`, kMinTargetFpr to
  /// kMaxTargetFpr (sizing.h), with any number of keys up to `num_keys`, and at most two bits
  /// larger than that takes.
  static Result<BloomLayout> ForKeys(uint64_t num_keys, double target_fpr, uint64_t hash_seed = 0);

  /// A layout of that many bits and probes. design_keys is the number of keys that set half of the
  /// bits, num_bits ln 2 / num_probes: at that point, the two numbers are optimal for each other.
  static Result<BloomLayout> ForBits(uint64_t num_bits, uint32_t num_probes,
                                     uint64_t hash_seed = 0);

  /// The same with a size in bytes, like ClickHouse's BloomFilterParameters(size, hashes, seed).
  static Result<BloomLayout> ForBytes(uint64_t num_bytes, uint32_t num_probes,
                                      uint64_t hash_seed = 0);

  /// Checks that all fields are in their ranges.
  Status Check() const;

  /// Whether equal keys set equal bits under both layouts, so that filters can be united.
  bool SameBits(const BloomLayout& other) const noexcept {
    return num_bits == other.num_bits && num_probes == other.num_probes &&
           hash_seed == other.hash_seed;
  }
};

/// Estimated number of distinct keys in a filter.
struct CardinalityEstimate {
  double keys = 0;            ///< The estimate.
  double standard_error = 0;  ///< One standard deviation of `keys`, in keys.
};

/// Base of classic and counting filters: an array of cells, which are bits or counters. A
/// moved-from filter has no bits, may contain every key and holds none that is added to it.
class BLOCKSIEVE_EXPORT BloomArray {
 public:
  const BloomLayout& layout() const noexcept { return layout_; }  ///< As created or deserialized.
  uint64_t memory_bytes() const noexcept { return cells_.size; }  ///< Bytes used by the cells.
  uint64_t num_set_cells() const noexcept { return num_set_; }    ///< Set bits or nonzero counters.

  /// Estimates how many distinct keys set X = num_set_cells() of the cells: the n whose expected
  /// number of set cells is X, ln(1 - X/m) / (k ln(1 - 1/m)). (Swamidass and Baldi, 2007, give its
  /// limit for large m, -(m/k) ln(1 - X/m).) The standard error is that of linear counting with k n
  /// balls, sqrt(m (e^t - t - 1)) / k, t = k n / m (Whang, Vander-Zanden and Taylor, 1990). Both
  /// are infinite if all cells are set. O(1).
  CardinalityEstimate EstimateCardinality() const noexcept;

  /// Probability of a false positive in MayContain: (num_set_cells() / m)^k.
  double CurrentFpr() const noexcept;

  /// ResourceExhausted, with the numbers, if EstimateCardinality() exceeds design_keys. O(1).
  Status CheckFill() const;

 protected:
  /// Leaves num_set_ at 0: the derived class counts its cells.
  BloomArray(const BloomLayout& layout, OwnedBytes cells) noexcept;

  internal::NewAfterMove<BloomLayout> layout_;  ///< As created or deserialized.
  OwnedBytes cells_;                            ///< Bits or counters.
  uint64_t num_set_ = 0;                        ///< Cells that are not zero.

 private:
  uint64_t max_set_;  // overfull above this num_set_
};

/// The classic Bloom filter (Bloom, 1970): k bits per key anywhere in an array of m bits. Keys can
/// be added at any time. Uses m / 8 bytes, allocated at once.
class BLOCKSIEVE_EXPORT ClassicBloom : public BloomArray {
 public:
  /// An empty filter.
  static Result<ClassicBloom> Create(const BloomLayout& layout);

  /// Reads what Serialize made, or any other bytes, and does not refer to them afterwards. Takes
  /// no more memory than their size.
  /// Errors: Corruption, NotSupported (a newer version, a counting filter), ResourceExhausted.
  static Result<ClassicBloom> Deserialize(ByteView bytes);

  /// The filter in the format that lib/FORMAT.md specifies, which is not that of filter blocks:
  /// 34 bytes more than memory_bytes().
  Result<OwnedBytes> Serialize() const;

  /// @{
  /// Adds a key (any bytes) or a HashKey(key, layout().hash_seed). True if the key is certainly
  /// new, because it set a bit.
  bool Add(std::string_view key) noexcept { return AddHash(HashKey(key, layout_.hash_seed)); }
  bool AddHash(uint64_t hash) noexcept;
  /// @}

  /// @{
  /// Whether a key may have been added. False is certain; true is wrong at the rate CurrentFpr().
  bool MayContain(std::string_view key) const noexcept {
    return MayContainHash(HashKey(key, layout_.hash_seed));
  }
  bool MayContainHash(uint64_t hash) const noexcept;
  /// @}

  /// Adds all keys of `other`. The result is bit for bit the filter that Add would have made of the
  /// keys of both. Errors: InvalidArgument if the layouts differ in bits, probes or seed.
  Status UniteWith(const ClassicBloom& other);

 private:
  friend class CountingBloom;  // Project
  ClassicBloom(const BloomLayout& layout, OwnedBytes bits);
  void CountSetBits() noexcept;
};

/// A Bloom filter with counters instead of bits, so that keys can be removed (Fan, Cao, Almeida and
/// Broder, "Summary Cache", 1998). Its answers equal those of a classic filter of the same layout
/// that holds the keys added and not removed.
///
/// A counter that reaches its maximum sticks there: it has lost count, and decrementing it could
/// lose a key. That happens to one counter in 10^15 with four bits and design_keys keys. A stuck
/// counter costs false positives, never a key.
class BLOCKSIEVE_EXPORT CountingBloom : public BloomArray {
 public:
  static constexpr uint32_t kDefaultCounterBits = 4;  ///< Enough that almost no counter sticks.

  /// An empty filter of layout.num_bits counters of 2, 4, 8 or 16 bits.
  static Result<CountingBloom> Create(const BloomLayout& layout,
                                      uint32_t counter_bits = kDefaultCounterBits);

  /// @{
  /// Like those of ClassicBloom, with the same errors.
  static Result<CountingBloom> Deserialize(ByteView bytes);
  Result<OwnedBytes> Serialize() const;
  bool MayContain(std::string_view key) const noexcept { return EstimateCount(key) != 0; }
  bool MayContainHash(uint64_t hash) const noexcept { return EstimateCountHash(hash) != 0; }
  /// @}

  /// @{
  /// Adds a key (any bytes) or a HashKey(key, layout().hash_seed). A key that was added n times is
  /// gone after n removals.
  void Add(std::string_view key) noexcept { AddHash(HashKey(key, layout_.hash_seed)); }
  void AddHash(uint64_t hash) noexcept;
  /// @}

  /// @{
  /// Undoes one Add of a key. False, without a change, if one of its counters is zero: the key was
  /// never added, or was removed as often as added. Removing a key that was never added but is a
  /// false positive goes unnoticed, and can make the filter answer "no" for a key it holds.
  [[nodiscard]] bool Remove(std::string_view key) noexcept {
    return RemoveHash(HashKey(key, layout_.hash_seed));
  }
  [[nodiscard]] bool RemoveHash(uint64_t hash) noexcept;
  /// @}

  /// @{
  /// Upper bound of how often a key was added and not removed: its lowest counter. max_count()
  /// stands for that or more.
  uint32_t EstimateCount(std::string_view key) const noexcept {
    return EstimateCountHash(HashKey(key, layout_.hash_seed));
  }
  uint32_t EstimateCountHash(uint64_t hash) const noexcept;
  /// @}

  /// A classic filter of the same layout with a bit set for each nonzero counter: the same answers
  /// in less memory.
  Result<ClassicBloom> Project() const;

  uint32_t counter_bits() const noexcept { return counter_bits_; }  ///< 2, 4, 8 or 16.
  /// The value at which a counter sticks.
  uint32_t max_count() const noexcept { return (1u << counter_bits_) - 1; }
  /// The number of counters that stick.
  uint64_t num_stuck_counters() const noexcept { return num_stuck_counters_; }

 private:
  CountingBloom(const BloomLayout& layout, uint32_t counter_bits, OwnedBytes counters);
  uint32_t counter_bits_;
  uint64_t num_stuck_counters_ = 0;
};

/// A layout that ClickHouse's table contains.
struct ClickHouseLayout {
  uint32_t bits_per_key = 0;  ///< Whole bits per key, 2 to 20.
  uint32_t num_probes = 0;    ///< Bits per key that are set (k); ClickHouse: hash functions.
};

/// ClickHouse's layout for a target FPR, for comparison, with the table's known gaps fixed
/// (lib/classic/clickhouse.cc lists them). Errors: InvalidArgument if the target is NaN, above 1,
/// or below 6.71e-5, which no row of the table reaches.
BLOCKSIEVE_EXPORT Result<ClickHouseLayout> clickhouse_best_practice(double target_fpr);

}  // namespace blocksieve
