#include "lib/lsm/rate_allocation.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <string>

#include "blocksieve/sizing.h"
#include "lib/base/errors.h"
#include "lib/lsm/assignment.h"
#include "lib/lsm/run_groups.h"
#include "lib/range/range_filter.h"

namespace blocksieve {
namespace {

using Groups = std::span<const RunGroup>;

/// Range filters of all groups. Their FPRs are proportional to the keys per lookup, as those of
/// point filters nearly are: a range filter, too, takes a bit per key to halve its FPR.
class RangeRates {
 public:
  explicit RangeRates(Groups groups) : groups_(groups) {
    for (const RunGroup& group : groups) {
      if (group.num_runs > 0) max_keys_ = std::max(max_keys_, lsm::KeysPerLookup(group));
    }
  }

  /// Sets the largest FPRs with at most this many wasted reads.
  void SetWastedReads(double wasted_reads) {
    SetScale([&] { return WastedReads() <= wasted_reads; });
  }

  /// Sets the smallest FPRs with at most this many bits per key; the maximum if there are none.
  void SetBitsPerKey(double bits_per_key) {
    SetScale([&] { return BitsPerKey() >= bits_per_key; });
  }

  double RateOf(const RunGroup& group) const {
    return std::clamp(scale_ * lsm::KeysPerLookup(group) / max_keys_, kMinRangeFpr, kMaxRangeFpr);
  }

  double WastedReads() const {
    double sum = 0;
    for (const RunGroup& group : groups_) sum += lsm::RunsPerLookup(group) * RateOf(group);
    return sum;
  }

  double BitsPerKey() const {
    double sum = 0;
    for (const RunGroup& group : groups_) {
      sum += lsm::NumKeys(group) * RangeBitsPerKey(RateOf(group));
    }
    return sum / lsm::NumKeys(groups_);
  }

 private:
  // The largest scale for which `is_allowed` holds; it holds for small ones.
  template <class IsAllowed>
  void SetScale(const IsAllowed& is_allowed) {
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

  const Groups groups_;
  double max_keys_ = 0;  // per lookup
  double scale_ = 1;     // FPR of the group with most keys, before limits
};

RateAllocation UniformRates(Groups groups, double target_fpr) {
  RateAllocation same;
  for (const RunGroup& group : groups) {
    const Layout layout = *ChooseLayout(group.kind, target_fpr);
    same.target_fprs.push_back(target_fpr);
    same.wasted_reads += lsm::RunsPerLookup(group) * layout.predicted_fpr;
    same.bits_per_key += lsm::NumKeys(group) * lsm::LargeFilterBitsPerKey(layout);
  }
  same.bits_per_key /= lsm::NumKeys(groups);
  return same;
}

RateAllocation AllocateForReads(Groups groups, double wasted_reads) {
  const std::optional<lsm::Assignment> best = lsm::MinimizeMemory(groups, wasted_reads);
  if (best) return best->ToAllocation();
  RateAllocation most_precise = UniformRates(groups, kMinTargetFpr);
  most_precise.is_reached = false;
  return most_precise;
}

RateAllocation AllocateForBits(Groups groups, double bits_per_key) {
  return lsm::MinimizeReads(groups, bits_per_key).ToAllocation();
}

RateAllocation WithRanges(RateAllocation points, Groups groups, const RangeRates& ranges) {
  for (const RunGroup& group : groups) points.range_fprs.push_back(ranges.RateOf(group));
  points.wasted_seek_reads = ranges.WastedReads();
  points.range_bits_per_key = ranges.BitsPerKey();
  return points;
}

RateAllocation AllocateBothForReads(Groups groups, double wasted_reads, double seek_fraction) {
  RangeRates ranges(groups);
  ranges.SetWastedReads(wasted_reads / 2 / seek_fraction);
  // The FPR of ranges is limited; points get the rest of the budget.
  const double left = wasted_reads - seek_fraction * ranges.WastedReads();
  const double points = std::clamp(left / (1 - seek_fraction), kMinWastedReads, kMaxWastedReads);
  return WithRanges(AllocateForReads(groups, points), groups, ranges);
}

RateAllocation AllocateBothForBits(Groups groups, double bits_per_key, double seek_fraction) {
  constexpr int kMaxRounds = 8;
  constexpr double kPrecision = 0.01;  // in bits
  RangeRates ranges(groups);
  RateAllocation points;
  double for_points = bits_per_key / 2;
  for (int round = 0; round < kMaxRounds; ++round) {
    ranges.SetBitsPerKey(bits_per_key - for_points);
    points = AllocateForBits(groups, std::clamp(bits_per_key - ranges.BitsPerKey(),
                                                kMinAllocatedBitsPerKey, kMaxAllocatedBitsPerKey));
    // Moving a bit from one to the other halves one FPR and doubles the other.
    const double too_few = std::log2((1 - seek_fraction) * points.wasted_reads /
                                     (seek_fraction * ranges.WastedReads()));
    if (std::abs(too_few) < kPrecision) break;
    for_points = std::clamp(for_points + too_few / 2, kMinAllocatedBitsPerKey, bits_per_key);
  }
  return WithRanges(std::move(points), groups, ranges);
}

Status CheckRange(const char* name, double value, double lowest, double highest) {
  if (value >= lowest && value <= highest) return Status::Ok();
  return internal::OutOfRange(name, value, lowest, highest);
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
  if (count > 1) {
    return Status::InvalidArgument(given + " exclude each other; allowed: one of them");
  }
  if (seek_fraction) {
    if (!differs_by_run()) {
      return Status::InvalidArgument("seek_fraction=" + internal::ShortestText(*seek_fraction) +
                                     " needs wasted_reads or bits_per_key");
    }
    Status status = CheckRange("seek_fraction", *seek_fraction, kMinSeekFraction, kMaxSeekFraction);
    if (!status.ok()) return status;
  }
  if (target_fpr) return CheckRange("target_fpr", *target_fpr, kMinTargetFpr, kMaxTargetFpr);
  if (wasted_reads) {
    return CheckRange("wasted_reads", *wasted_reads, kMinWastedReads, kMaxWastedReads);
  }
  return !bits_per_key ? Status::Ok()
                       : CheckRange("bits_per_key", *bits_per_key, kMinAllocatedBitsPerKey,
                                    kMaxAllocatedBitsPerKey);
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Status lsm::CheckGroups(std::span<const RunGroup> groups) {
  for (const RunGroup& group : groups) {
    Status status = CheckRange("keys_per_run", group.keys_per_run, 0, 0x1p50);
    if (status.ok()) status = CheckRange("num_runs", group.num_runs, 0, 0x1p30);
    if (status.ok()) status = CheckRange("lookup_share", group.lookup_share, 0, 1);
    if (!status.ok()) return status;
  }
  if (NumKeys(groups) > 0) return Status::Ok();
  return Status::InvalidArgument("number of keys in all sorted runs is 0; allowed: 1 or more");
}

Result<RateAllocation> AllocateRates(std::span<const RunGroup> groups, const RateGoal& goal) try {
  Status status = goal.Check();
  if (status.ok()) status = lsm::CheckGroups(groups);
  if (!status.ok()) return status;
  if (goal.target_fpr) return UniformRates(groups, *goal.target_fpr);
  if (goal.wasted_reads && goal.seek_fraction) {
    return AllocateBothForReads(groups, *goal.wasted_reads, *goal.seek_fraction);
  }
  if (goal.wasted_reads) return AllocateForReads(groups, *goal.wasted_reads);
  if (goal.bits_per_key && goal.seek_fraction) {
    return AllocateBothForBits(groups, *goal.bits_per_key, *goal.seek_fraction);
  }
  if (goal.bits_per_key) return AllocateForBits(groups, *goal.bits_per_key);
  return Status::InvalidArgument(
      "none of target_fpr, wasted_reads and bits_per_key is given; allowed: one of them");
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

}  // namespace blocksieve
