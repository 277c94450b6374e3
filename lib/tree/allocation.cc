// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>

#include "blocksieve/tree.h"
#include "lib/base/errors.h"
#include "lib/filter/kinds.h"
#include "lib/tree/assignment.h"

// The optimum of a tree that stays as it is.

namespace blocksieve {
namespace {

using internal::CheckRange;
using internal::KeysPerLookup;
using internal::RunsPerLookup;
using Levels = std::span<const TreeLevel>;

/// Range filters of all levels. Their FPRs are proportional to the keys per lookup, as those of
/// point filters nearly are: a range filter, too, takes a bit per key to halve its FPR.
class RangeRates {
 public:
  explicit RangeRates(Levels levels) : levels_(levels) {
    for (const TreeLevel& level : levels) {
      if (level.num_runs > 0) max_keys_ = std::max(max_keys_, KeysPerLookup(level));
    }
  }

  /// Sets the largest FPRs for which `is_allowed` holds; it holds for small ones.
  template <class IsAllowed>
  void SetLargest(const IsAllowed& is_allowed) {
    constexpr int kBisections = 50;
    double low = std::log(kMinRangeFpr);
    // Smaller runs reach the maximum FPR at a higher scale.
    double high = std::log(kMaxRangeFpr) + std::log(1e15);
    for (int i = 0; i < kBisections; ++i) {
      scale_ = std::exp((low + high) / 2);
      (is_allowed() ? low : high) = std::log(scale_);
    }
    scale_ = std::exp(low);
  }

  double ChooseFpr(const TreeLevel& level) const {
    return std::clamp(scale_ * KeysPerLookup(level) / max_keys_, kMinRangeFpr, kMaxRangeFpr);
  }

  double WastedReads() const {
    double sum = 0;
    for (const TreeLevel& level : levels_) sum += RunsPerLookup(level) * ChooseFpr(level);
    return sum;
  }

  double BitsPerKey() const {
    double sum = 0;
    for (const TreeLevel& level : levels_) {
      sum += level.num_keys() * RangeBitsPerKey(ChooseFpr(level));
    }
    return sum / NumKeys(levels_);
  }

 private:
  const Levels levels_;
  double max_keys_ = 0;  // per lookup
  double scale_ = 1;     // FPR of the level with most keys, before limits
};

RatePlan UniformRates(Levels levels, double target_fpr) {
  RatePlan same;
  for (const TreeLevel& level : levels) {
    const Layout layout = *ChooseLayout(level.kind, target_fpr);
    same.levels.push_back({.target_fpr = target_fpr});
    same.wasted_reads += RunsPerLookup(level) * layout.predicted_fpr;
    same.bits_per_key += level.num_keys() * internal::LargeFilterBitsPerKey(layout);
  }
  same.bits_per_key /= NumKeys(levels);
  return same;
}

RatePlan AllocateForReads(Levels levels, double wasted_reads) {
  const std::optional<internal::Assignment> best = internal::MinimizeMemory(levels, wasted_reads);
  if (best) return best->ToPlan();
  RatePlan most_precise = UniformRates(levels, kMinTargetFpr);
  most_precise.is_reached = false;
  return most_precise;
}

RatePlan WithRanges(RatePlan points, Levels levels, const RangeRates& ranges) {
  for (size_t i = 0; i < levels.size(); ++i) {
    points.levels[i].range_fpr = ranges.ChooseFpr(levels[i]);
  }
  points.wasted_seek_reads = ranges.WastedReads();
  points.range_bits_per_key = ranges.BitsPerKey();
  return points;
}

RatePlan AllocateBothForReads(Levels levels, double wasted_reads, double seek_fraction) {
  RangeRates ranges(levels);
  const double for_ranges = wasted_reads / 2 / seek_fraction;
  ranges.SetLargest([&] { return ranges.WastedReads() <= for_ranges; });
  // The FPR of ranges is limited; points get the rest of the budget.
  const double left = wasted_reads - seek_fraction * ranges.WastedReads();
  const double points = std::clamp(left / (1 - seek_fraction), kMinWastedReads, kMaxWastedReads);
  return WithRanges(AllocateForReads(levels, points), levels, ranges);
}

RatePlan AllocateBothForBits(Levels levels, double bits_per_key, double seek_fraction) {
  constexpr int kMaxRounds = 8;
  constexpr double kPrecision = 0.01;  // in bits
  RangeRates ranges(levels);
  RatePlan points;
  double for_points = bits_per_key / 2;
  for (int round = 0; round < kMaxRounds; ++round) {
    ranges.SetLargest([&] { return ranges.BitsPerKey() >= bits_per_key - for_points; });
    const double left = std::clamp(bits_per_key - ranges.BitsPerKey(), kMinAllocatedBitsPerKey,
                                   kMaxAllocatedBitsPerKey);
    points = internal::MinimizeReads(levels, left).ToPlan();
    // Moving a bit from one to the other halves one FPR and doubles the other.
    const double too_few = std::log2((1 - seek_fraction) * points.wasted_reads /
                                     (seek_fraction * ranges.WastedReads()));
    if (std::abs(too_few) < kPrecision) break;
    for_points = std::clamp(for_points + too_few / 2, kMinAllocatedBitsPerKey, bits_per_key);
  }
  return WithRanges(std::move(points), levels, ranges);
}

// Bits per key of the coarsest key filter and range filter.
double MinBitsWithRanges(FilterKind kind) {
  const Layout smallest = LayoutForBlockBytes(ChooseKind(kind, /*is_short_lived=*/false), 1, 0);
  return RangeBitsPerKey(kMaxRangeFpr) + smallest.bits_per_key;
}

RatePlan AllocateForBytes(Levels levels, const RateGoal& goal) {
  const double bits_per_key =
      std::min(8 * *goal.filter_bytes / NumKeys(levels), kMaxAllocatedBitsPerKey);
  if (goal.seek_fraction && bits_per_key >= MinBitsWithRanges(goal.kind))
    return AllocateBothForBits(levels, bits_per_key, *goal.seek_fraction);
  return internal::MinimizeReads(levels, bits_per_key).ToPlan();
}

Status CheckLevels(Levels levels) {
  for (const TreeLevel& level : levels) {
    if (!internal::HasSizing(level.kind)) return internal::UnknownKind(level.kind);
    BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("keys_per_run", level.keys_per_run, 0, 0x1p50));
    BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("num_runs", level.num_runs, 0, 0x1p30));
    BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("lookup_share", level.lookup_share, 0, 1));
  }
  if (NumKeys(levels) > 0) return Status::Ok();
  return Status::InvalidArgument("number of keys in all sorted runs is 0; allowed: 1 or more");
}

}  // namespace

Status RateGoal::Check() const try {
  std::string given;
  int count = 0;
  const auto list = [&](const char* name, const std::optional<double>& value) {
    if (value) given += (count++ > 0 ? ", " : "") + (name + ("=" + internal::ShortestText(*value)));
  };
  list("target_fpr", target_fpr);
  list("wasted_reads", wasted_reads);
  list("bits_per_key", bits_per_key);
  list("filter_bytes", filter_bytes);
  if (count > 1) {
    return Status::InvalidArgument(given + " exclude each other; allowed: one of them");
  }
  if (seek_fraction) {
    if (!differs_by_run()) {
      return Status::InvalidArgument("seek_fraction=" + internal::ShortestText(*seek_fraction) +
                                     " needs wasted_reads, bits_per_key or filter_bytes");
    }
    BLOCKSIEVE_RETURN_IF_ERROR(
        CheckRange("seek_fraction", *seek_fraction, kMinSeekFraction, kMaxSeekFraction));
  }
  if (target_fpr) return CheckRange("target_fpr", *target_fpr, kMinTargetFpr, kMaxTargetFpr);
  if (wasted_reads) {
    return CheckRange("wasted_reads", *wasted_reads, kMinWastedReads, kMaxWastedReads);
  }
  if (filter_bytes) return CheckRange("filter_bytes", *filter_bytes, 0, 0x1p60);
  if (!bits_per_key) return Status::Ok();
  BLOCKSIEVE_RETURN_IF_ERROR(
      CheckRange("bits_per_key", *bits_per_key, kMinAllocatedBitsPerKey, kMaxAllocatedBitsPerKey));
  if (!seek_fraction) return Status::Ok();
  // Every level has a key filter and a range filter.
  return CheckRange("bits_per_key with range filters", *bits_per_key, MinBitsWithRanges(kind),
                    kMaxAllocatedBitsPerKey);
}
BLOCKSIEVE_CATCH_BAD_ALLOC

Result<RatePlan> AllocateRates(std::span<const TreeLevel> levels, const RateGoal& goal) try {
  BLOCKSIEVE_RETURN_IF_ERROR(goal.Check());
  BLOCKSIEVE_RETURN_IF_ERROR(CheckLevels(levels));
  if (goal.target_fpr) return UniformRates(levels, *goal.target_fpr);
  if (goal.filter_bytes) return AllocateForBytes(levels, goal);
  if (goal.wasted_reads && goal.seek_fraction) {
    return AllocateBothForReads(levels, *goal.wasted_reads, *goal.seek_fraction);
  }
  if (goal.wasted_reads) return AllocateForReads(levels, *goal.wasted_reads);
  if (goal.bits_per_key && goal.seek_fraction) {
    return AllocateBothForBits(levels, *goal.bits_per_key, *goal.seek_fraction);
  }
  if (goal.bits_per_key) return internal::MinimizeReads(levels, *goal.bits_per_key).ToPlan();
  return Status::InvalidArgument(
      "none of target_fpr, wasted_reads, bits_per_key and filter_bytes is given; allowed: one of "
      "them");
}
BLOCKSIEVE_CATCH_BAD_ALLOC

std::vector<double> DivideBytes(std::span<const std::vector<TreeLevel>> trees,
                                std::span<const double> lookups, double bytes) {
  const double equal = bytes / static_cast<double>(std::max<size_t>(trees.size(), 1));
  std::vector<double> shares(trees.size(), equal);
  const double most = lookups.empty() ? 0 : *std::ranges::max_element(lookups);
  if (trees.size() <= 1 || !(most > 0)) return shares;
  std::vector<TreeLevel> all;
  for (size_t i = 0; i < trees.size(); ++i) {
    for (TreeLevel level : trees[i]) {
      level.lookup_share *= lookups[i] / most;
      all.push_back(level);
    }
  }
  const RateGoal goal{.filter_bytes = bytes};
  const Result<RatePlan> plan = AllocateRates(all, goal);
  if (!plan.ok()) return shares;
  size_t next = 0;
  double sum = 0;
  for (size_t i = 0; i < trees.size(); ++i) {
    shares[i] = 0;
    for (const TreeLevel& level : trees[i]) {
      const double fpr = plan->levels[next++].target_fpr;
      const Result<Layout> layout = ChooseLayout(level.kind, std::min(fpr, kMaxTargetFpr));
      if (layout.ok()) {
        shares[i] += std::min(ShareOfFpr(fpr), 1.0) * level.num_keys() *
                     internal::LargeFilterBitsPerKey(*layout) / 8;
      }
    }
    sum += shares[i];
  }
  // What no filter needs is for trees that grow.
  for (double& share : shares) share += (bytes - sum) / static_cast<double>(trees.size());
  return shares;
}

}  // namespace blocksieve
