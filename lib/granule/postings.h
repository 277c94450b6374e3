#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "blocksieve/granule_set.h"
#include "lib/granule/bit_codes.h"
#include "lib/granule/filters.h"
#include "lib/granule/packed.h"

// The other form of a column's filters: a dictionary of truncated hashes, in buckets, each with the
// list of the granules that have the value. It is exact for every value that occurs; of one that
// does not, it gives the granules of another one at a chosen rate, or none. lib/FORMAT.md specifies
// it.

namespace blocksieve::internal {

/// The numbers that a reader has to know.
struct PostingsShape {
  uint64_t num_granules = 0;
  uint64_t num_buckets = 1;
  uint32_t remainder_bits = 0;  // kMinRemainderBits .. kMaxRemainderBits
  uint32_t count_bits = 0;      // k of the code of a list's length; 0 .. kMaxCountBits

  static constexpr uint64_t kValuesPerBucket = 16;  // on average
  static constexpr uint32_t kBucketBits = 4;        // its logarithm
  static constexpr uint32_t kMinRemainderBits = kBucketBits + 4;
  static constexpr uint32_t kMaxRemainderBits = kBucketBits + 40;
  static constexpr uint32_t kMaxCountBits = 24;
  static constexpr uint32_t kLengthBits = 6;  // k of the code of a long list's bits

  /// Lists of so many granules or more say how many bits they take, so that they can be skipped.
  static constexpr uint64_t kLongList = 16;

  uint64_t BucketOf(uint64_t hash) const noexcept {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(hash) * num_buckets >> 64);
  }

  /// By other bits than those that choose the bucket. Seeds keep the values of a bucket apart.
  uint64_t RemainderOf(uint64_t hash, uint64_t seed) const noexcept {
    hash += seed * 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93;
    return hash >> (64 - remainder_bits);
  }

  /// k of the Rice code of the distance of two remainders.
  uint32_t gap_bits() const noexcept { return remainder_bits - kBucketBits; }
};

/// About how many bytes postings would take, from the values whose hashes end in some zeros: a
/// sixteenth of them if there are many. Takes a small part of the time of making them.
double EstimatePostingsBytes(const GranuleHashes& values, double target_fpr);

/// Appends the postings of a column, unless they would take `max_bytes` or more: then nothing, and
/// it returns false, also if values cannot be kept apart. For a value that does not occur, the
/// expected share of the granules that are given is at most `target_fpr`. Memory: 32 bytes per
/// hash.
bool AppendPostings(const GranuleHashes& values, double target_fpr, uint64_t max_bytes,
                    std::string* out);

/// A view; the bytes belong to somebody else.
class Postings {
 public:
  /// Opens all of `bytes`. False if they do not begin as postings do.
  bool Open(ByteView bytes, uint64_t num_granules);

  /// Removes the candidates that contain none of the values. Postings that contradict themselves
  /// remove nothing.
  void KeepContainingAny(std::span<const uint64_t> hashes, GranuleSet* candidates) const;

  /// Bytes that one value's probe reads, on average.
  uint64_t probe_bytes() const noexcept { return stream_.size() / shape_.num_buckets + 1; }

 private:
  /// Adds the granules of a value. False if the postings contradict themselves.
  bool AddContaining(uint64_t hash, GranuleSet* set) const;
  void ReadList(uint64_t count, BitReader* from, GranuleSet* set) const;

  PostingsShape shape_;
  PackedInts offsets_;  // of the buckets, in bits
  ByteView stream_;
};

}  // namespace blocksieve::internal
