#include "bench/scale/results.h"

#include <algorithm>

namespace blocksieve::bench::scale {

const FilterResult& Results::largest_ribbon() const {
  return *std::max_element(filters.begin(), filters.end(), [](const auto& a, const auto& b) {
    const auto rank = [](const FilterResult& filter) {
      return filter.kind == FilterKind::kRibbon ? filter.keys : 0;
    };
    return rank(a) < rank(b);
  });
}

}  // namespace blocksieve::bench::scale
