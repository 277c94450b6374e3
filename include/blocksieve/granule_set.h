#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "blocksieve/bytes.h"

namespace blocksieve {

/// A set of granules of one file. Bit g of the words is granule g; bits after the last are zero. A
/// moved-from set is that of a file without granules.
class GranuleSet {
 public:
  /// The empty set for a file of `num_granules`.
  static GranuleSet None(size_t num_granules) { return GranuleSet(num_granules, 0); }

  /// The set of all granules of the file.
  static GranuleSet All(size_t num_granules) { return GranuleSet(num_granules, ~uint64_t{0}); }

  /// Number of granules in the file.
  size_t num_granules() const noexcept { return parts_.num_granules; }

  /// Whether the granule is in the set. True for one that the file does not have: nothing rules it
  /// out.
  bool Has(size_t granule) const noexcept {
    return granule >= num_granules() || (parts_.words[granule / 64] >> (granule % 64) & 1) != 0;
  }

  /// Adds a granule. No effect if the file does not have it.
  void Add(size_t granule) noexcept {
    if (granule < num_granules()) parts_.words[granule / 64] |= uint64_t{1} << (granule % 64);
  }

  /// Removes a granule. No effect if the file does not have it.
  void Remove(size_t granule) noexcept {
    if (granule < num_granules()) parts_.words[granule / 64] &= ~(uint64_t{1} << (granule % 64));
  }

  /// Number of granules in the set. O(num_granules()), like IsEmpty.
  size_t Count() const noexcept {
    size_t count = 0;
    for (const uint64_t word : parts_.words) count += static_cast<size_t>(std::popcount(word));
    return count;
  }

  /// Whether Count() is 0.
  bool IsEmpty() const noexcept {
    for (const uint64_t word : parts_.words) {
      if (word != 0) return false;
    }
    return true;
  }

  /// Intersection, of what both files have.
  GranuleSet& operator&=(const GranuleSet& other) noexcept {
    const size_t common = std::min(parts_.words.size(), other.parts_.words.size());
    for (size_t i = 0; i < common; ++i) parts_.words[i] &= other.parts_.words[i];
    return *this;
  }

  /// Union, of what both files have.
  GranuleSet& operator|=(const GranuleSet& other) noexcept {
    const size_t common = std::min(parts_.words.size(), other.parts_.words.size());
    for (size_t i = 0; i < common; ++i) parts_.words[i] |= other.parts_.words[i];
    return *this;
  }

  /// @{
  /// For combining sets 64 granules at a time. Valid as long as the set. Writers must leave the
  /// bits after the last granule zero.
  std::span<uint64_t> words() noexcept { return parts_.words; }
  std::span<const uint64_t> words() const noexcept { return parts_.words; }
  /// @}

  /// Equal sets of files with the same number of granules.
  friend bool operator==(const GranuleSet&, const GranuleSet&) = default;

 private:
  GranuleSet(size_t num_granules, uint64_t word)
      : parts_(Parts{num_granules, std::vector<uint64_t>((num_granules + 63) / 64, word)}) {
    if (word != 0 && num_granules % 64 != 0) parts_.words.back() = word >> (64 - num_granules % 64);
  }

  struct Parts {
    size_t num_granules = 0;
    std::vector<uint64_t> words;
    friend bool operator==(const Parts&, const Parts&) = default;
  };
  internal::NewAfterMove<Parts> parts_;
};

}  // namespace blocksieve
