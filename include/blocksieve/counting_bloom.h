#pragma once

#include <cstdint>
#include <string_view>

#include "blocksieve/bloom_layout.h"
#include "blocksieve/bytes.h"
#include "blocksieve/classic_bloom.h"
#include "blocksieve/status.h"

namespace blocksieve {

/// A Bloom filter of counters in place of bits, so that keys can be removed (Fan, Cao, Almeida and
/// Broder, "Summary Cache", 1998). Answers are those of a classic filter of the same layout that
/// holds the keys that were added and not removed.
///
/// A counter that has reached its maximum sticks there: it no longer knows how many keys it counts,
/// and going down could lose one. With four bits and the keys it is designed for, that happens to
/// one counter in 10^15. Such counters cost false positives, never a key.
///
/// Const functions may be called by any number of threads at once, the others by one alone.
class CountingBloom {
 public:
  static constexpr uint32_t kDefaultCounterBits = 4;  ///< With which next to none stick.

  /// An empty filter of layout.num_bits counters, of 2, 4, 8 or 16 bits each.
  /// Errors: InvalidArgument, naming what is out of its range; ResourceExhausted if memory is
  /// short.
  static Result<CountingBloom> Create(const BloomLayout& layout,
                                      uint32_t counter_bits = kDefaultCounterBits);

  /// What Serialize made; the bytes are not needed afterwards. Takes memory, up to 4 GiB, and time
  /// as the layout says, also for an empty filter, whose block is a few bytes: if it comes from
  /// somebody who is not trusted, ask DescribeFilterBlock for num_cells first. Errors: Corruption,
  /// NotSupported (a newer version, another kind), ResourceExhausted.
  static Result<CountingBloom> Deserialize(ByteView block);

  /// A filter block (lib/FORMAT.md), which FilterReader opens and Deserialize makes a filter of.
  /// Errors: ResourceExhausted if memory is short.
  Result<OwnedBytes> Serialize() const;

  /// Adds a key, which may be any bytes, once more. To be removed it must be removed as often.
  void Add(std::string_view key) noexcept;
  /// The same for HashKey(key, layout().hash_seed).
  void AddHash(uint64_t hash) noexcept;

  /// Removes a key once. False, and nothing is changed, if a counter of it is at zero: it was never
  /// added, or removed as often. Removing another key that was never added cannot be noticed if the
  /// filter takes it for one that was, and may make it deny a key that was.
  [[nodiscard]] bool Remove(std::string_view key) noexcept;
  /// The same for HashKey(key, layout().hash_seed).
  [[nodiscard]] bool RemoveHash(uint64_t hash) noexcept;

  /// "Yes" can be wrong, at the rate of CurrentFpr; "no" cannot.
  bool MayContain(std::string_view key) const noexcept;
  /// The same for HashKey(key, layout().hash_seed).
  bool MayContainHash(uint64_t hash) const noexcept { return EstimateCountHash(hash) != 0; }

  /// How often the key was added and not removed, at most: the lowest of its counters. A result of
  /// max_count() means that or more.
  uint32_t EstimateCount(std::string_view key) const noexcept;
  /// The same for HashKey(key, layout().hash_seed).
  uint32_t EstimateCountHash(uint64_t hash) const noexcept;

  /// The classic filter of the same layout whose bits are set where counters are not zero: the same
  /// answers in less memory. Errors: ResourceExhausted if memory is short.
  Result<ClassicBloom> Project() const;

  /// As given to Create, or as the block says.
  const BloomLayout& layout() const noexcept { return layout_; }

  /// Of each counter: 2, 4, 8 or 16.
  uint32_t counter_bits() const noexcept { return counter_bits_; }

  /// The number at which a counter sticks.
  uint32_t max_count() const noexcept { return (1u << counter_bits_) - 1; }

  /// Counters that are not zero.
  uint64_t num_set_counters() const noexcept { return num_set_counters_; }

  /// Counters that stick at max_count().
  uint64_t num_stuck_counters() const noexcept { return num_stuck_counters_; }

  /// Of the counters.
  uint64_t memory_bytes() const noexcept { return counters_.size; }

  /// Distinct keys that are in it, from the counters that are not zero.
  CardinalityEstimate EstimateCardinality() const noexcept {
    return blocksieve::EstimateCardinality(layout_, num_set_counters_);
  }

  /// As ClassicBloom's.
  double CurrentFpr() const noexcept;

  /// As ClassicBloom's.
  Status CheckFill() const;

 private:
  CountingBloom(const BloomLayout& layout, uint32_t counter_bits, OwnedBytes counters);

  BloomLayout layout_;
  uint32_t counter_bits_;
  OwnedBytes counters_;
  uint64_t num_set_counters_ = 0;
  uint64_t num_stuck_counters_ = 0;
  uint64_t max_set_counters_ = 0;  // with more of them it is over-full
};

}  // namespace blocksieve
