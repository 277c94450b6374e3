#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "blocksieve/status.h"  // says if this is no C++20

namespace blocksieve {

/// A set of granules of one file. Bit g of the words is granule g; bits after the last are zero.
class GranuleSet {
 public:
  /// The empty set for a file of `num_granules`.
  static GranuleSet None(size_t num_granules) { return GranuleSet(num_granules, 0); }

  /// The set of all granules of the file.
  static GranuleSet All(size_t num_granules) { return GranuleSet(num_granules, ~uint64_t{0}); }

  /// Number of granules in the file.
  size_t num_granules() const noexcept { return num_granules_; }

  /// Whether the granule is in the set. REQUIRES: granule < num_granules()
  bool Has(size_t granule) const noexcept {
    assert(granule < num_granules_);
    return (words_[granule / 64] >> (granule % 64) & 1) != 0;
  }

  /// Adds a granule. REQUIRES: granule < num_granules()
  void Add(size_t granule) noexcept {
    assert(granule < num_granules_);
    words_[granule / 64] |= uint64_t{1} << (granule % 64);
  }

  /// Removes a granule. REQUIRES: granule < num_granules()
  void Remove(size_t granule) noexcept {
    assert(granule < num_granules_);
    words_[granule / 64] &= ~(uint64_t{1} << (granule % 64));
  }

  /// Number of granules in the set. O(num_granules()), like IsEmpty.
  size_t Count() const noexcept {
    size_t count = 0;
    for (const uint64_t word : words_) count += static_cast<size_t>(std::popcount(word));
    return count;
  }

  /// Whether Count() is 0.
  bool IsEmpty() const noexcept {
    for (const uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }

  /// Intersection. REQUIRES: the same number of granules.
  GranuleSet& operator&=(const GranuleSet& other) noexcept {
    assert(num_granules_ == other.num_granules_);
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    return *this;
  }

  /// Union. REQUIRES: the same number of granules.
  GranuleSet& operator|=(const GranuleSet& other) noexcept {
    assert(num_granules_ == other.num_granules_);
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }

  /// @{
  /// For combining sets 64 granules at a time. Valid as long as the set. Writers must leave the
  /// bits after the last granule zero.
  std::span<uint64_t> words() noexcept { return words_; }
  std::span<const uint64_t> words() const noexcept { return words_; }
  /// @}

  /// Equal sets of files with the same number of granules.
  friend bool operator==(const GranuleSet&, const GranuleSet&) = default;

 private:
  GranuleSet(size_t num_granules, uint64_t word)
      : num_granules_(num_granules), words_((num_granules + 63) / 64, word) {
    if (word != 0 && num_granules % 64 != 0) words_.back() = word >> (64 - num_granules % 64);
  }

  size_t num_granules_;
  std::vector<uint64_t> words_;
};

}  // namespace blocksieve
