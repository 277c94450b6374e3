#pragma once

#include <cstddef>
#include <vector>

#include "blocksieve/sizing.h"
#include "lib/block/filter_info.h"

namespace blocksieve::lsm {

/// A row of the lookup table.
struct Choice {
  Layout layout;
  double bits_per_key = 0;  ///< As LargeFilterBitsPerKey.

  double fpr() const noexcept { return layout.predicted_fpr; }
};

/// The bits per key of a filter with enough keys that rounding up does not matter.
double LargeFilterBitsPerKey(const Layout& layout);

/// The rows of a kind that are worth their bits, from the smallest on.
class LayoutChoices {
 public:
  explicit LayoutChoices(FilterKind kind);
  LayoutChoices(const LayoutChoices&) = delete;

  /// Computed once. REQUIRES: one of BuildableFilterKinds(). Throws std::bad_alloc.
  static const LayoutChoices& ForKind(FilterKind kind);

  const std::vector<Choice>& all() const { return all_; }

  /// The best choice if a bit per key costs this many false positives per lookup.
  const Choice* BestFor(double price) const;

 private:
  std::vector<Choice> all_;
  // The lower convex hull of FPR over bits: each of them buys more per bit than the next. Only
  // these can be best for a price.
  std::vector<const Choice*> hull_;
};

}  // namespace blocksieve::lsm
