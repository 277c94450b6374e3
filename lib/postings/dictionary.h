#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "lib/bits/bit_codes.h"
#include "lib/bits/packed.h"
#include "lib/postings/posting.h"

// A dictionary from hashes to the granules that have the value. Exact for hashes in it; another
// hash gets the granules of one that is in it, with a chosen FPR, or none. Hashes are in buckets of
// about 16, which store some further bits of each, the remainder (as a quotient filter does).
// Remainders ascend in Elias-Fano coding: the number of remainders with each value of the highest
// four bits in unary, and the other bits at fixed positions, so that one is found without reading
// those before it. lib/FORMAT.md specifies the bits.

namespace blocksieve::internal {

// The granules of one value: ascending numbers below num_granules. Their count is coded elsewhere.
// The first is in truncated binary, the gaps between the others in exponential-Golomb coding.
// Rejected: interpolative coding, 1 % smaller for texts, 1 % larger for random values, and three
// times slower to read.

/// Maximum number of granules in a file with lists, whose numbers have 32 bits.
inline constexpr uint64_t kMaxListedGranules = uint64_t{1} << 31;

/// Writes and reads the lists of one column.
class GranuleLists {
 public:
  /// Lists with at least this many granules store their length in bits, so that they can be
  /// skipped, and the parameter of their gaps. In shorter lists it follows from the number of
  /// granules.
  static constexpr uint64_t kLongList = 16;

  /// `closeness`: bits that gaps of short lists have less than gaps of random granules. REQUIRES:
  /// num_granules <= kMaxListedGranules
  GranuleLists(uint64_t num_granules, uint32_t closeness) noexcept;

  /// REQUIRES: at least one granule; granules ascend and are below num_granules.
  void Append(std::span<const uint32_t> granules, BitWriter* out) const;

  /// Skips a list of `count` granules. False if it extends beyond the end of the bits. REQUIRES: 1
  /// <= count <= num_granules
  bool Skip(uint64_t count, BitReader* from) const noexcept;

  /// Sets the bits of a list's granules below `end` in `words`, and no others, even if the list is
  /// damaged. False if the part that was read is damaged. REQUIRES: 1 <= count <= num_granules, end
  /// <= num_granules
  bool Read(uint64_t count, BitReader from, uint64_t end, uint64_t* words) const noexcept;

  /// k of the gap code in a list of `count` granules. REQUIRES: count < kLongList
  unsigned gap_bits(uint64_t count) const noexcept { return gap_bits_[count]; }

 private:
  void AppendGaps(std::span<const uint32_t> granules, unsigned k, BitWriter* out) const;

  /// Stored instead of a long list's k, which is smaller: the list is a bitmap.
  unsigned bitmap() const noexcept { return static_cast<unsigned>(std::bit_width(num_granules_)); }

  uint64_t num_granules_;
  std::array<uint8_t, kLongList> gap_bits_{};  // k of short lists, by number of granules
};

/// Sets the bits first .. last. REQUIRES: first <= last
void SetBits(uint64_t first, uint64_t last, uint64_t* words) noexcept;

/// Parameters of a dictionary.
struct DictionaryShape {
  uint64_t num_granules = 0;
  uint64_t num_buckets = 1;
  uint32_t remainder_bits = 0;  // kMinRemainderBits .. kMaxRemainderBits
  uint32_t count_bits = 0;      // k of the code of list lengths; 0 .. kMaxCountBits
  uint32_t closeness = 0;       // see GranuleLists; 0 .. kMaxCloseness
  uint32_t min_count = 1;       // granules of the shortest list: 1 or 2

  static constexpr uint64_t kValuesPerBucket = 16;  // on average
  static constexpr uint32_t kBucketBits = 4;        // log2 of that
  static constexpr uint64_t kMaxBucketValues = 48;  // their unary codes fit 64 bits
  static constexpr uint32_t kMinRemainderBits = kBucketBits + 3;
  static constexpr uint32_t kMaxRemainderBits = kBucketBits + 40;
  static constexpr uint32_t kMaxCountBits = 24;
  static constexpr uint32_t kMaxCloseness = 15;

  uint64_t BucketOf(uint64_t hash) const noexcept {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(hash) * num_buckets >> 64);
  }

  /// Uses other bits than BucketOf. The seed makes the remainders of a bucket distinct.
  uint64_t RemainderOf(uint64_t hash, uint64_t seed) const noexcept {
    hash += seed * 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93;
    return hash >> (64 - remainder_bits);
  }

  /// Bits of a remainder below the highest kBucketBits.
  uint32_t low_bits() const noexcept { return remainder_bits - kBucketBits; }
};

/// Bits of a remainder with which a hash outside the dictionary is expected to get at most
/// `max_granules`, if values have `granules_per_value` on average.
uint32_t RemainderBits(double granules_per_value, double max_granules) noexcept;

/// Appends a dictionary with remainders of at least `remainder_bits`. Returns false, and appends
/// nothing, if remainders cannot be made distinct. REQUIRES: lists ascend by hash and have at least
/// `min_count` granules; num_granules <= kMaxListedGranules
bool AppendDictionary(std::span<const PostingList> lists, uint64_t num_granules, uint32_t min_count,
                      uint32_t remainder_bits, std::string* out);

/// A view; does not own the bytes.
class Dictionary {
 public:
  /// Opens all of `bytes`. False if their header is invalid.
  bool Open(ByteView bytes, uint64_t num_granules, uint32_t min_count);

  /// Prefetches the first bytes that AddGranules reads.
  void Prefetch(uint64_t hash) const noexcept {
    const uint64_t byte = BucketStart(shape_.BucketOf(hash)) / 8;
    if (byte < stream_.size()) __builtin_prefetch(stream_.data() + byte);
  }

  /// Sets the bits of a value's granules below `end` in `words`. False if the bytes are damaged.
  /// REQUIRES: end <= num_granules
  bool AddGranules(uint64_t hash, uint64_t end, uint64_t* words) const noexcept;

  /// Bytes that AddGranules reads, on average.
  uint64_t probe_bytes() const noexcept { return stream_.size() / shape_.num_buckets + 1; }

 private:
  /// Bit offset of a bucket, stored as the difference from equal distances.
  uint64_t BucketStart(uint64_t bucket) const noexcept {
    return bucket * distance_ + offsets_[bucket] - ahead_;
  }

  DictionaryShape shape_;
  GranuleLists lists_{0, 0};
  uint64_t distance_ = 0;
  uint64_t ahead_ = 0;
  PackedInts offsets_;
  ByteView stream_;
};

}  // namespace blocksieve::internal
