#pragma once

#include "lib/range/few_keys.h"
#include "lib/range/range_filter.h"
#include "lib/range/tree.h"

namespace blocksieve::internal {

/// What lies between the filter block and the footer: this, the model and the tree.
struct RangePart {
  RangeFilterInfo info;
  KeyForm form;
  Tree tree;
};

/// Reads the head of a part, in constant time; false if it is damaged, or of a newer version.
bool ReadRangePart(ByteView ranges, RangePart* part) noexcept;

/// Appends a part of these keys, or nothing if a trial shows that its estimate would be far above
/// `max_estimated_fpr`. REQUIRES: there are some
RangeFilterInfo AppendRangePart(const SortedKeys& keys, const RangePartOptions& options,
                                std::string* out);

}  // namespace blocksieve::internal
