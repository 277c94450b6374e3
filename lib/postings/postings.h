#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <string>

#include "blocksieve/granule_set.h"
#include "lib/postings/dictionary.h"
#include "lib/ribbon/retrieval.h"

// The filters of a column: the granules of each value. Exact for values that occur; another value
// gets some granules with a chosen FPR, or none.
//
// Most columns have many values that are in one granule only. A dictionary entry takes more space
// than such a value's granule, so these may be in a ribbon (a static map), and a second ribbon of
// one bit per value tells which values are. If nearly all are, one ribbon has all values, and its
// number marks those in the dictionary. If nearly every row has a value of its own, the ribbon maps
// values to contiguous groups of granules, with as many false positives as the FPR allows.
// lib/FORMAT.md specifies it.
//
// Rejected: a Bloom filter of each granule, stored transposed, where postings are larger. Of twelve
// columns of a million rows, that is so for two at an FPR of 0.1 %, by 15 and 17 % (300,000 and
// 1,000,000 scattered values), and for five at 1 %, by up to 74 %. But Bloom filters have false
// positives for values that occur, 16 and 155 granules of these files, and a second form took 900
// lines. Building takes 1.1 times as long for all columns together.

namespace blocksieve::internal {

/// Numbers of sorted postings.
struct PostingCounts {
  double granules = 0;
  double pairs = 0;  // (value, granule)
  double values = 0;
  double singles = 0;    // values in one granule
  double list_bits = 0;  // approximate size of the lists of all other values
};

PostingCounts CountPostings(const SortedPostings& postings);

/// How values are stored, and the approximate size.
struct PostingsPlan {
  /// 0: all values are in the dictionary. 1: all are in a ribbon, whose number is a group or refers
  /// to the dictionary. 2: a ribbon of one bit tells whether a ribbon or the dictionary has a
  /// value.
  uint32_t num_ribbons = 0;
  uint64_t group_granules = 1;  // granules in a group
  uint32_t check_bits = 0;      // low bits of a ribbon's numbers: a fingerprint
  uint32_t group_bits = 0;      // of a group number
  uint32_t remainder_bits = 0;  // of the dictionary
  double bits = 0;              // approximate size

  /// Columns of the ribbon from values to groups.
  uint32_t columns() const noexcept { return group_bits + check_bits; }
};

/// The plan with the fewest false positives for values that do not occur that takes no more bits
/// than Bloom filters of the target FPR, or if there is none, the smallest plan that meets the
/// target. If values are in at least 1.3 granules on average, it is exact for values that occur.
PostingsPlan ChoosePlan(const PostingCounts& counts, double target_fpr);

/// Appends postings. Returns false, and appends nothing, if too many hashes are alike, which a hash
/// function produces for chosen values only. A value that does not occur gets an expected share of
/// at most `target_fpr` of the granules. So does a value that occurs, in false positives, if values
/// are in fewer than 1.3 granules on average; otherwise it gets none. Memory: up to 16 bytes per
/// hash and the size of the result, twice. Throws std::bad_alloc.
bool AppendPostings(const SortedPostings& postings, const PostingCounts& counts, double target_fpr,
                    std::string* out);

/// A view; does not own the bytes.
class Postings {
 public:
  /// Opens all of `bytes`. False if their header is invalid.
  bool Open(ByteView bytes, uint64_t num_granules);

  /// Removes candidates that contain none of the values. Damaged postings remove nothing.
  void PruneByAny(std::span<const uint64_t> hashes, GranuleSet* candidates) const;

  /// The map of all values, in whose lowest check_bits() no other value has its fingerprint; null
  /// if there is none.
  const Retrieval* map_of_all() const noexcept { return num_ribbons_ == 1 ? &group_of_ : nullptr; }
  uint32_t check_bits() const noexcept { return check_bits_; }

  /// Granules in a group; 1: no false positives for values that occur.
  uint64_t group_granules() const noexcept { return group_granules_; }

  /// Average number of bytes that a probe of one value reads.
  uint64_t probe_bytes() const noexcept;

 private:
  /// Sets the bits of a value's granules below `end`. False if the postings are damaged.
  bool AddContaining(uint64_t hash, uint64_t end, uint64_t* words) const noexcept;

  uint64_t num_granules_ = 0;
  uint32_t num_ribbons_ = 0;  // see PostingsPlan, like the following
  uint64_t group_granules_ = 1;
  uint32_t check_bits_ = 0;
  Retrieval is_single_;  // 1 if group_of_ has the value
  Retrieval group_of_;
  Dictionary dictionary_;
};

}  // namespace blocksieve::internal
