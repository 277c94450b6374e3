#pragma once

#include <cstdint>

#include "lib/postings/postings.h"

namespace blocksieve::internal {

/// What the form of a column's postings depends on.
struct PostingCounts {
  double granules = 0;
  double pairs = 0;  // of a value and a granule
  double values = 0;
  double singles = 0;  // values of one granule
};

/// How values are stored, and about how large that is.
struct PostingsPlan {
  PostingsShape shape;
  uint32_t group_bits = 0;      // of a group's number
  uint32_t remainder_bits = 0;  // of the dictionary
  double bits = 0;              // of everything but the lists of values in several granules

  /// Of the ribbon that gives groups.
  uint32_t columns() const noexcept { return group_bits + shape.check_bits; }
};

/// The smallest plan that keeps to the rate. Where values are in 1.3 granules or more on average,
/// it is exact for values that occur.
PostingsPlan ChoosePlan(const PostingCounts& counts, double target_fpr);

/// About how many bytes postings would take, from the values whose hashes end in some zeros: a
/// sixteenth of them if there are many. Takes a small part of the time of making them.
double EstimatePostingsBytes(const GranuleHashes& values, double target_fpr);

}  // namespace blocksieve::internal
