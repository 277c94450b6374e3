#pragma once

#include <cstdint>

#include "lib/postings/postings.h"

namespace blocksieve::internal {

/// Counts that determine the form of a column's postings.
struct PostingCounts {
  double granules = 0;
  double pairs = 0;  // (value, granule)
  double values = 0;
  double singles = 0;  // values in one granule
};

/// How values are stored, and the approximate size.
struct PostingsPlan {
  PostingsShape shape;
  uint32_t group_bits = 0;      // of a group number
  uint32_t remainder_bits = 0;  // of the dictionary
  double bits = 0;              // total without the lists of values in several granules

  /// Columns of the ribbon from values to groups.
  uint32_t columns() const noexcept { return group_bits + shape.check_bits; }
};

/// The smallest plan that meets the target. If values are in at least 1.3 granules on average, it
/// is exact for values that occur.
PostingsPlan ChoosePlan(const PostingCounts& counts, double target_fpr);

/// Approximate size of postings in bytes. Samples a sixteenth of the values if there are many
/// (hashes with trailing zeros), in a small part of the time of building them.
double EstimatePostingsBytes(const GranuleHashes& values, double target_fpr);

}  // namespace blocksieve::internal
