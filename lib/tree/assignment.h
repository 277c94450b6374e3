#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "blocksieve/sizing.h"
#include "blocksieve/tree.h"

namespace blocksieve::internal {

/// Average number of the level's runs that a lookup checks.
inline double RunsPerLookup(const TreeLevel& level) noexcept {
  return level.num_runs * level.lookup_share;
}

/// Cost of a bit per key for each read that it saves. Larger than all others for a run that no
/// lookup checks.
inline double KeysPerLookup(const TreeLevel& level) noexcept {
  constexpr double kMinShare = 1e-9;
  return level.keys_per_run / std::max(level.lookup_share, kMinShare);
}

/// A row of the lookup table, with its LargeFilterBitsPerKey.
using Choice = Layout;

/// Bits per key of a filter with enough keys to make rounding negligible.
double LargeFilterBitsPerKey(const Layout& layout);

/// The rows of a kind in ascending size, without rows that a smaller one equals in FPR.
class LayoutChoices {
 public:
  explicit LayoutChoices(FilterKind kind);
  LayoutChoices(const LayoutChoices&) = delete;

  /// Computed at the first call. REQUIRES: not kNone. Throws std::bad_alloc.
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

/// The filters of each level: a row of the lookup table, or none in the `num_without` levels with
/// most keys per lookup. That number is fixed first, because from no filter to the smallest
/// one the FPR halves and memory grows by a bit per key: too large a last step. Only FillPartly
/// divides it, among the files of a level. Throws std::bad_alloc.
class Assignment {
 public:
  Assignment(std::span<const TreeLevel> levels, size_t num_without);

  /// Chooses the best filters if a bit costs `price` wasted reads.
  void ChooseFor(double price);

  using Check = std::function<bool(const Assignment&)>;

  /// Moves one level after the other in the direction of `step` (1 or -1) while `is_allowed` holds.
  /// First towards `beyond`, the best assignment for a price at which it does not hold: all rows up
  /// to it are equally worth their bits. Then to the last row. REQUIRES: is_allowed(*this)
  void MoveTowards(const Assignment& beyond, int step, const Check& is_allowed);

  /// Gives the smallest filter to a share of the files of the level that has the fewest keys per
  /// lookup among those without filters, and chooses the others for the price that its bits have.
  /// Returns whether a share makes `measure`, Bits or WastedReads, equal to the goal; without, only
  /// the destructor may be called.
  bool FillPartly(double goal, double (Assignment::*measure)() const);

  double WastedReads() const;
  double Bits() const;
  RatePlan ToPlan() const;

 private:
  double fpr(size_t level) const {
    if (chosen_[level] != nullptr) return chosen_[level]->predicted_fpr;
    return partial_ == level ? FprOfShare(share_) : 1;
  }

  std::span<const TreeLevel> levels_;
  std::vector<size_t> with_filters_;
  std::vector<const Choice*> chosen_;  // null: no filter
  std::optional<size_t> partial_;      // of the levels without filters, the next to get one
  double share_ = 0;                   // of its files that do
};

// Both search for the price of a bit, in wasted reads, at which the best assignment meets a goal.

/// The least memory with at most this many wasted reads; nullopt if no filters achieve that.
std::optional<Assignment> MinimizeMemory(std::span<const TreeLevel> levels, double wasted_reads);

/// The fewest wasted reads with at most this much memory.
Assignment MinimizeReads(std::span<const TreeLevel> levels, double bits_per_key);

}  // namespace blocksieve::internal
