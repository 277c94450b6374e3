#pragma once

#include <cstddef>
#include <vector>

#include "blocksieve/sizing.h"
#include "lib/block/filter_info.h"

namespace blocksieve::lsm {

/// A row of the lookup table.
struct Choice {
  Layout layout;
  double bits_per_key = 0;  ///< LargeFilterBitsPerKey of the layout.

  double fpr() const noexcept { return layout.predicted_fpr; }
};

/// Bits per key of a filter with enough keys to make rounding negligible.
double LargeFilterBitsPerKey(const Layout& layout);

/// The rows of a kind in ascending size, without rows that a smaller one equals in FPR.
class LayoutChoices {
 public:
  explicit LayoutChoices(FilterKind kind);
  LayoutChoices(const LayoutChoices&) = delete;

  /// Computed at the first call. REQUIRES: one of BuildableFilterKinds(). Throws std::bad_alloc.
  static const LayoutChoices& ForKind(FilterKind kind);

  const std::vector<Choice>& all() const { return all_; }

  /// The best choice if a bit per key costs this many false positives per lookup.
  const Choice* BestFor(double price) const;

 private:
  std::vector<Choice> all_;
  // The lower convex hull of FPR over bits: each row saves more per bit than the next. Only these
  // can be best for a price.
  std::vector<const Choice*> hull_;
};

}  // namespace blocksieve::lsm
