#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lib/bits/bit_codes.h"
#include "lib/bits/packed.h"
#include "lib/postings/granule_list.h"
#include "lib/postings/posting.h"

// A dictionary of hashes, each with the granules that have the value: exact for every hash that is
// in it, and for any other one the granules of one that is, at a chosen rate, or none. Hashes are
// in buckets of about 16, and of each its bucket has some further bits only, the remainder.
// Remainders ascend and are coded as Elias and Fano did it: how many there are of each value of
// their highest four bits in unary, and the other bits one after the other, so that a remainder is
// found without reading those before it. lib/FORMAT.md specifies the bits.

namespace blocksieve::internal {

/// The numbers that a reader has to know.
struct DictionaryShape {
  uint64_t num_granules = 0;
  uint64_t num_buckets = 1;
  uint32_t remainder_bits = 0;  // kMinRemainderBits .. kMaxRemainderBits
  uint32_t count_bits = 0;      // k of the code of a list's length; 0 .. kMaxCountBits
  uint32_t closeness = 0;       // of the granules of short lists; 0 .. kMaxCloseness
  uint32_t least_count = 1;     // of a list's granules: 1 or 2

  static constexpr uint64_t kValuesPerBucket = 16;  // on average
  static constexpr uint32_t kBucketBits = 4;        // its logarithm
  static constexpr uint64_t kMaxBucketValues = 48;  // whose unary codes fit 64 bits
  static constexpr uint32_t kMinRemainderBits = kBucketBits + 3;
  static constexpr uint32_t kMaxRemainderBits = kBucketBits + 40;
  static constexpr uint32_t kMaxCountBits = 24;
  static constexpr uint32_t kMaxCloseness = 15;

  uint64_t BucketOf(uint64_t hash) const noexcept {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(hash) * num_buckets >> 64);
  }

  /// By other bits than those that choose the bucket. Seeds keep the values of a bucket apart.
  uint64_t RemainderOf(uint64_t hash, uint64_t seed) const noexcept {
    hash += seed * 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93;
    return hash >> (64 - remainder_bits);
  }

  /// Bits of a remainder below the highest ones.
  uint32_t low_bits() const noexcept { return remainder_bits - kBucketBits; }
};

/// Bits of a remainder with which a hash that is not in the dictionary is expected to be given
/// `max_granules` or fewer, if values have so many granules on average.
uint32_t RemainderBits(double granules_per_value, double max_granules) noexcept;

/// Appends a dictionary, unless that would take `max_bytes` or more, or hashes cannot be kept
/// apart: then it appends nothing and returns false. REQUIRES: lists ascend by hash, and have
/// `least_count` granules or more; num_granules <= kMaxListedGranules
bool AppendDictionary(std::span<const PostingList> lists, uint64_t num_granules,
                      uint32_t least_count, uint32_t remainder_bits, uint64_t max_bytes,
                      std::string* out);

/// A view; the bytes belong to somebody else.
class Dictionary {
 public:
  /// Opens all of `bytes`. False if they do not begin as a dictionary does.
  bool Open(ByteView bytes, uint64_t num_granules, uint32_t least_count);

  /// Asks the processor to fetch what AddGranules will read first.
  void Prefetch(uint64_t hash) const noexcept {
    const uint64_t byte = BucketStart(shape_.BucketOf(hash)) / 8;
    if (byte < stream_.size()) __builtin_prefetch(stream_.data() + byte);
  }

  /// Sets the bits of those granules of a value that are below `end` in `words`. False if the bytes
  /// contradict themselves. REQUIRES: end <= num_granules
  bool AddGranules(uint64_t hash, uint64_t end, uint64_t* words) const noexcept;

  /// Bytes that AddGranules reads, on average.
  uint64_t probe_bytes() const noexcept { return stream_.size() / shape_.num_buckets + 1; }

 private:
  /// In bits. Offsets are kept as what they differ from equal distances.
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
