#pragma once

#include "lib/range/candidate_keys.h"
#include "lib/range/range_filter.h"
#include "lib/range/tree.h"

namespace blocksieve::internal {

/// The bytes between the point filter and the footer: a head, the model and the tree.
struct RangePart {
  RangeFilterInfo info;
  KeyForm form;
  Tree tree;
};

/// Reads the head of a range part in constant time. False if it is damaged or of a newer version.
bool ReadRangePart(ByteView ranges, RangePart* part) noexcept;

/// Appends the range part of `keys`, or nothing if a trial shows that the estimated FPR would far
/// exceed `max_estimated_fpr`. REQUIRES: !keys.empty()
RangeFilterInfo AppendRangePart(const SortedKeys& keys, const RangePartOptions& options,
                                std::string* out);

}  // namespace blocksieve::internal
