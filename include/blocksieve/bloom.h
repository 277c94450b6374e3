#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"

namespace blocksieve {

/// Most bits of a classic or counting Bloom filter: what a filter block of less than 4 GiB holds.
inline constexpr uint64_t kMaxBloomBits = (UINT64_C(1) << 35) - 1024;

/// Most bits, or counters, that a key of one sets (k).
inline constexpr uint32_t kMaxBloomProbes = 32;

/// How a classic or counting Bloom filter is laid out. The three factories are the three ways in
/// which filters are specified; all errors are InvalidArgument, naming what is out of its range.
/// Thread-safe, as is everything in this header.
struct BLOCKSIEVE_EXPORT BloomLayout {
  uint64_t num_bits = 0;     ///< Bits, or counters (m); 1 to kMaxBloomBits.
  uint32_t num_probes = 0;   ///< Bits that a key sets (k); 1 to kMaxBloomProbes.
  uint64_t hash_seed = 0;    ///< Seed of HashKey.
  uint64_t design_keys = 0;  ///< With more distinct keys the filter is over-full; >= 1.

  /// For a number of keys and a false-positive rate (FPR) that it does not exceed with up to that
  /// many keys: the bytes that the lookup table (sizing.h) gives, and one more, without which
  /// filters of few keys exceed the target. `target_fpr` has the range of ChooseLayout.
  static Result<BloomLayout> ForKeys(uint64_t num_keys, double target_fpr, uint64_t hash_seed = 0);

  /// For a number of bits and of probes. It is designed for the keys that set half of the
  /// bits, num_bits ln 2 / num_probes, where those numbers are the best choice for each other.
  static Result<BloomLayout> ForBits(uint64_t num_bits, uint32_t num_probes,
                                     uint64_t hash_seed = 0);

  /// The same for a size in bytes, as ClickHouse's BloomFilterParameters(size, hashes, seed).
  static Result<BloomLayout> ForBytes(uint64_t num_bytes, uint32_t num_probes,
                                      uint64_t hash_seed = 0);

  /// Whether all fields are in their ranges.
  Status Check() const;

  /// Whether the same keys set the same bits: filters that can be united.
  bool SameBits(const BloomLayout& other) const noexcept {
    return num_bits == other.num_bits && num_probes == other.num_probes &&
           hash_seed == other.hash_seed;
  }
};

/// How many distinct keys a filter holds.
struct CardinalityEstimate {
  double keys = 0;            ///< The estimate.
  double standard_error = 0;  ///< One standard deviation of `keys`, in keys.
};

/// The number of distinct keys that set `num_set_bits` of the bits: ln(1 - X/m) / (k ln(1 - 1/m)),
/// the n at which X is expected (Swamidass and Baldi, 2007, have -(m/k) ln(1 - X/m), its limit for
/// large m). The error is that of linear counting with k n balls, sqrt(m (e^t - t - 1)) / k where
/// t = k n / m (Whang, Vander-Zanden and Taylor, 1990). Both are infinite if all bits are set.
/// REQUIRES: layout.Check().ok(), num_set_bits <= layout.num_bits.
BLOCKSIEVE_EXPORT CardinalityEstimate EstimateCardinality(const BloomLayout& layout,
                                                          uint64_t num_set_bits) noexcept;

/// What classic and counting filters have in common: cells, which are bits or counters.
class BLOCKSIEVE_EXPORT BloomArray {
 public:
  /// As given to Create, or as the block says.
  const BloomLayout& layout() const noexcept { return layout_; }

  /// Memory used by the cells, in bytes.
  uint64_t memory_bytes() const noexcept { return cells_.size; }

  /// Bits that are set now, or counters that are not zero. Known at any time: O(1).
  uint64_t num_set_cells() const noexcept { return num_set_; }

  /// Distinct keys that are in it, from the cells that are set.
  CardinalityEstimate EstimateCardinality() const noexcept {
    return blocksieve::EstimateCardinality(layout_, num_set_);
  }

  /// Probability that a key that was not added may be contained: (X / m)^k with the cells X that
  /// are set now.
  double CurrentFpr() const noexcept;

  /// ResourceExhausted, with the numbers, if the estimated cardinality exceeds
  /// layout().design_keys; cheap enough to be asked after every Add.
  Status CheckFill() const;

 protected:
  /// None of the cells is counted yet.
  BloomArray(const BloomLayout& layout, OwnedBytes cells) noexcept;

  /// @{
  /// For those that set cells.
  BloomLayout layout_;
  OwnedBytes cells_;
  uint64_t num_set_ = 0;
  /// @}

 private:
  uint64_t max_set_;  // with more of them it is over-full
};

/// The classic Bloom filter (Bloom, 1970): k bits per key, anywhere in an array of m. Keys can be
/// added at any time. Memory is m / 8 bytes, allocated at once.
///
/// Const functions may be called by any number of threads at once, the others by one alone.
class BLOCKSIEVE_EXPORT ClassicBloom : public BloomArray {
 public:
  /// An empty filter. Errors: InvalidArgument as BloomLayout::Check, ResourceExhausted if memory is
  /// short.
  static Result<ClassicBloom> Create(const BloomLayout& layout);

  /// What Serialize made; the bytes are not needed afterwards. Takes memory, up to 4 GiB, and time
  /// as the layout says, even for an empty filter, whose block is a few bytes. Do not
  /// deserialize blocks from sources that are not trusted. Errors: Corruption, NotSupported (a
  /// newer version, another kind), ResourceExhausted.
  static Result<ClassicBloom> Deserialize(ByteView block);

  /// A filter block (lib/FORMAT.md), which Filter opens and Deserialize makes a filter of.
  /// Errors: ResourceExhausted if memory is short.
  Result<OwnedBytes> Serialize() const;

  /// @{
  /// Adds a key, which may be any bytes, or a HashKey(key, layout().hash_seed). Returns whether it
  /// was certainly new: a bit was not yet set.
  bool Add(std::string_view key) noexcept;
  bool AddHash(uint64_t hash) noexcept;
  /// @}

  /// @{
  /// "Yes" can be wrong, at the rate of CurrentFpr; "no" cannot.
  bool MayContain(std::string_view key) const noexcept;
  bool MayContainHash(uint64_t hash) const noexcept;
  /// @}

  /// Becomes the filter of the keys of both: bit for bit the one that had been given all of them.
  /// Errors: InvalidArgument if the layouts differ in bits, probes or seed.
  Status UniteWith(const ClassicBloom& other);

 private:
  friend class CountingBloom;  // projects

  ClassicBloom(const BloomLayout& layout, OwnedBytes bits);

  void CountSetBits() noexcept;
};

/// A Bloom filter of counters in place of bits, so that keys can be removed (Fan, Cao, Almeida and
/// Broder, "Summary Cache", 1998). Answers are those of a classic filter of the same layout that
/// holds the keys that were added and not removed.
///
/// A counter that has reached its maximum sticks there: it no longer knows how many keys it counts,
/// and going down could lose one. With four bits and the keys it is designed for, that happens to
/// one counter in 10^15. Such counters cost false positives, never a key.
///
/// Const functions may be called by any number of threads at once, the others by one alone.
class BLOCKSIEVE_EXPORT CountingBloom : public BloomArray {
 public:
  static constexpr uint32_t kDefaultCounterBits = 4;  ///< With which next to none stick.

  /// An empty filter of layout.num_bits counters, of 2, 4, 8 or 16 bits each.
  /// Errors: InvalidArgument, naming what is out of its range; ResourceExhausted if memory is
  /// short.
  static Result<CountingBloom> Create(const BloomLayout& layout,
                                      uint32_t counter_bits = kDefaultCounterBits);

  /// As ClassicBloom::Deserialize.
  static Result<CountingBloom> Deserialize(ByteView block);

  /// A filter block (lib/FORMAT.md), which Filter opens and Deserialize makes a filter of.
  /// Errors: ResourceExhausted if memory is short.
  Result<OwnedBytes> Serialize() const;

  /// @{
  /// Adds a key, which may be any bytes, or a HashKey(key, layout().hash_seed), once more. To be
  /// removed it must be removed as often.
  void Add(std::string_view key) noexcept;
  void AddHash(uint64_t hash) noexcept;
  /// @}

  /// @{
  /// Removes a key once. False, and nothing is changed, if a counter of it is at zero: it was never
  /// added, or removed as often. Removing another key that was never added cannot be noticed if the
  /// filter takes it for one that was, and may make it deny a key that was.
  [[nodiscard]] bool Remove(std::string_view key) noexcept;
  [[nodiscard]] bool RemoveHash(uint64_t hash) noexcept;
  /// @}

  /// @{
  /// "Yes" can be wrong, at the rate of CurrentFpr; "no" cannot.
  bool MayContain(std::string_view key) const noexcept;
  bool MayContainHash(uint64_t hash) const noexcept { return EstimateCountHash(hash) != 0; }
  /// @}

  /// @{
  /// How often the key was added and not removed, at most: the lowest of its counters. A result of
  /// max_count() means that or more.
  uint32_t EstimateCount(std::string_view key) const noexcept;
  uint32_t EstimateCountHash(uint64_t hash) const noexcept;
  /// @}

  /// The classic filter of the same layout whose bits are set where counters are not zero: the same
  /// answers in less memory. Errors: ResourceExhausted if memory is short.
  Result<ClassicBloom> Project() const;

  /// Bits per counter: 2, 4, 8 or 16.
  uint32_t counter_bits() const noexcept { return counter_bits_; }

  /// The number at which a counter sticks.
  uint32_t max_count() const noexcept { return (1u << counter_bits_) - 1; }

  /// Counters that stick at max_count().
  uint64_t num_stuck_counters() const noexcept { return num_stuck_counters_; }

 private:
  CountingBloom(const BloomLayout& layout, uint32_t counter_bits, OwnedBytes counters);

  uint32_t counter_bits_;
  uint64_t num_stuck_counters_ = 0;
};

/// A layout as ClickHouse picks it: whole bits per key and number of hash functions.
struct ClickHouseLayout {
  uint32_t bits_per_key = 0;  ///< 2 to 20.
  uint32_t num_probes = 0;    ///< Bits that a key sets (k), which ClickHouse calls hash functions.
};

/// What ClickHouse's table gives for a target FPR, for comparison, with its known holes fixed
/// (lib/bloom/clickhouse.cc lists them).
/// Errors: InvalidArgument if the target is NaN, above 1, or below 6.71e-5, which no row of the
/// table reaches.
BLOCKSIEVE_EXPORT Result<ClickHouseLayout> clickhouse_best_practice(double target_fpr);

}  // namespace blocksieve
