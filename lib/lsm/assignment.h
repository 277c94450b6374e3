#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "blocksieve/rate_allocation.h"
#include "lib/lsm/layout_choices.h"

namespace blocksieve::lsm {

/// The filters of each run group: a row of its kind or, in the groups with most keys per lookup,
/// none. Which groups go without is decided first: between no filter and the smallest one lie half
/// the FPR and a bit for every key, far too large a step to be taken or left as the last one.
/// Throws std::bad_alloc.
class Assignment {
 public:
  Assignment(std::span<const RunGroup> groups, size_t num_without);

  /// The best filters if a bit costs `price` wasted reads.
  void ChooseFor(double price);

  using Check = std::function<bool(const Assignment&)>;

  /// Changes one group after the other as far in the direction of `step`, 1 or -1, as `is_allowed`
  /// holds; it holds now. First towards `beyond`, the best for a price at which it does not hold:
  /// between the two, all rows are equally worth their bits. Then as far as there are rows.
  void GoTowards(const Assignment& beyond, int step, const Check& is_allowed);

  double WastedReads() const;
  double Bits() const;
  RateAllocation ToAllocation() const;

 private:
  double fpr(size_t group) const { return chosen_[group] == nullptr ? 1 : chosen_[group]->fpr(); }

  std::span<const RunGroup> groups_;
  std::vector<size_t> with_filters_;
  std::vector<const Choice*> chosen_;  // null: no filters
};

// Both search for the price of a bit, in wasted reads, at which the best assignment meets a goal.

/// The least memory with at most this many wasted reads; nothing if no filters waste so few.
std::optional<Assignment> MinMemory(std::span<const RunGroup> groups, double wasted_reads);

/// The fewest wasted reads with at most this much memory.
Assignment MinReads(std::span<const RunGroup> groups, double bits_per_key);

}  // namespace blocksieve::lsm
