#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "lib/postings/postings.h"

namespace blocksieve::internal {

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

}  // namespace blocksieve::internal
