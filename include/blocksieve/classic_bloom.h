#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "blocksieve/bloom_layout.h"
#include "blocksieve/bytes.h"
#include "blocksieve/status.h"

namespace blocksieve {

/// The classic Bloom filter (Bloom, 1970): k bits per key, anywhere in an array of m. Keys can be
/// added at any time. Memory is m / 8 bytes, allocated at once.
///
/// Const functions may be called by any number of threads at once, the others by one alone.
class ClassicBloom {
 public:
  /// An empty filter. Errors: InvalidArgument as BloomLayout::Check, ResourceExhausted if memory is
  /// short.
  static Result<ClassicBloom> Create(const BloomLayout& layout);

  /// What Serialize made; the bytes are not needed afterwards. Takes memory, up to 4 GiB, and time
  /// as the layout says, also for an empty filter, whose block is a few bytes: if it comes from
  /// somebody who is not trusted, ask DescribeFilterBlock for num_cells first. Errors: Corruption,
  /// NotSupported (a newer version, another kind), ResourceExhausted.
  static Result<ClassicBloom> Deserialize(ByteView block);

  /// A filter block (lib/FORMAT.md), which FilterReader opens and Deserialize makes a filter of.
  /// Errors: ResourceExhausted if memory is short.
  Result<OwnedBytes> Serialize() const;

  /// Adds a key, which may be any bytes. Whether it was certainly new: a bit was not yet set.
  bool Add(std::string_view key) noexcept;
  /// The same for HashKey(key, layout().hash_seed).
  bool AddHash(uint64_t hash) noexcept;

  /// "Yes" can be wrong, at the rate of CurrentFpr; "no" cannot.
  bool MayContain(std::string_view key) const noexcept;
  /// The same for HashKey(key, layout().hash_seed).
  bool MayContainHash(uint64_t hash) const noexcept;

  /// Probes all keys, fetching memory for several at a time; writes every may_contain[i].
  /// REQUIRES: `may_contain` has room for keys.size() answers.
  void MayContain(std::span<const std::string_view> keys, bool* may_contain) const noexcept;
  /// The same for hashes of keys.
  void MayContainHashes(std::span<const uint64_t> hashes, bool* may_contain) const noexcept;

  /// Becomes the filter of the keys of both: bit for bit the one that had been given all of them.
  /// Errors: InvalidArgument if the layouts differ in bits, probes or seed.
  Status UniteWith(const ClassicBloom& other);

  /// Keeps the bits that both have. It contains every key that both contain and has a higher FPR,
  /// and cardinality, than a filter of just these keys: bits of different keys coincide. To
  /// estimate how many keys both have, take |A| + |B| - |A u B|. Errors: as UniteWith.
  Status IntersectWith(const ClassicBloom& other);

  /// As given to Create, or as the block says.
  const BloomLayout& layout() const noexcept { return layout_; }

  /// Of layout().num_bits, those that are set now. Known at any time: O(1).
  uint64_t num_set_bits() const noexcept { return num_set_bits_; }

  /// Of the bits.
  uint64_t memory_bytes() const noexcept { return bits_.size; }

  /// Distinct keys added, from the bits that are set.
  CardinalityEstimate EstimateCardinality() const noexcept {
    return blocksieve::EstimateCardinality(layout_, num_set_bits_);
  }

  /// Probability that a key that was not added may be contained: (X / m)^k with the bits X that are
  /// set now.
  double CurrentFpr() const noexcept;

  /// ResourceExhausted, with the numbers, if the estimated cardinality exceeds
  /// layout().design_keys; cheap enough to be asked after every Add.
  Status CheckFill() const;

 private:
  friend class CountingBloom;  // projects

  ClassicBloom(const BloomLayout& layout, OwnedBytes bits);

  Status CheckSameBits(const ClassicBloom& other) const;
  void CountSetBits() noexcept;

  BloomLayout layout_;
  OwnedBytes bits_;
  uint64_t num_set_bits_ = 0;
  uint64_t max_set_bits_ = 0;  // with more of them it is over-full
};

}  // namespace blocksieve
