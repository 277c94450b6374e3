#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

#include "blocksieve/range_filter.h"
#include "blocksieve/rate_allocation.h"
#include "lib/base/errors.h"
#include "lib/filter/keys_per_lookup.h"

namespace blocksieve {
namespace {

constexpr int kBisections = 50;
constexpr int kMostRounds = 8;

/// Range filters of all groups, whose rates are in proportion to the keys of their runs, as those
/// of filters for points are, for each lookup that asks them: a range filter, too, takes a bit per
/// key to halve its rate.
class RangeRates {
 public:
  explicit RangeRates(std::span<const RunGroup> groups) : groups_(groups) {
    for (const RunGroup& group : groups) {
      keys_ += group.num_runs * group.keys_per_run;
      most_keys_ = std::max(most_keys_, group.num_runs > 0 ? internal::KeysPerLookup(group) : 0);
    }
  }

  /// The largest rates with at most so many wasted reads.
  void SetWastedReads(double wasted_reads) {
    SetScale([&] { return this->wasted_reads() <= wasted_reads; });
  }

  /// The smallest rates with at most so many bits per key; the largest there are, if none have.
  void SetBitsPerKey(double bits_per_key) {
    SetScale([&] { return this->bits_per_key() >= bits_per_key; });
  }

  double Of(const RunGroup& group) const {
    return std::clamp(scale_ * internal::KeysPerLookup(group) / most_keys_, kMinRangeFpr,
                      kMaxRangeFpr);
  }
  double wasted_reads() const {
    double sum = 0;
    for (const RunGroup& group : groups_) {
      sum += group.num_runs * group.share_of_lookups * Of(group);
    }
    return sum;
  }
  double bits_per_key() const {
    double sum = 0;
    for (const RunGroup& group : groups_) {
      sum += group.num_runs * group.keys_per_run * RangeBitsPerKey(Of(group));
    }
    return sum / keys_;
  }

 private:
  /// The largest rate of the largest run for which `is_allowed`; rates only fall with it.
  template <class IsAllowed>
  void SetScale(const IsAllowed& is_allowed) {
    double low = std::log(kMinRangeFpr);
    // Runs that are smaller reach the highest rate later.
    double high = std::log(kMaxRangeFpr) + std::log(1e15);
    for (int i = 0; i < kBisections; ++i) {
      scale_ = std::exp((low + high) / 2);
      (is_allowed() ? low : high) = std::log(scale_);
    }
    scale_ = std::exp(low);
  }

  const std::span<const RunGroup> groups_;
  double keys_ = 0;
  double most_keys_ = 1;
  double scale_ = kMaxRangeFpr;  // the rate of the largest run, were there no limits
};

}  // namespace

Result<RangeRateAllocation> AllocateRatesWithRanges(std::span<const RunGroup> groups,
                                                    const RateGoal& goal,
                                                    double seek_fraction) try {
  assert(goal.differs_by_run());
  if (!(seek_fraction >= kMinSeekFraction && seek_fraction <= kMaxSeekFraction)) {
    return internal::OutOfRange("seek_fraction", seek_fraction, kMinSeekFraction, kMaxSeekFraction);
  }
  const double point_fraction = 1 - seek_fraction;
  RangeRates ranges(groups);
  RateGoal points_goal = goal;
  if (goal.wasted_reads) {
    ranges.SetWastedReads(*goal.wasted_reads / 2 / seek_fraction);
    // Ranges have a highest rate; what they leave over is for points.
    const double left = *goal.wasted_reads - seek_fraction * ranges.wasted_reads();
    points_goal.wasted_reads = std::clamp(left / point_fraction, kMinWastedReads, kMaxWastedReads);
  }
  Result<RateAllocation> points = AllocateRates(groups, points_goal);
  if (goal.bits_per_key) {
    double share = *goal.bits_per_key / 2;
    for (int round = 0; round < kMostRounds; ++round) {
      ranges.SetBitsPerKey(*goal.bits_per_key - share);
      points_goal.bits_per_key = std::clamp(*goal.bits_per_key - ranges.bits_per_key(),
                                            kMinAllocatedBitsPerKey, kMaxAllocatedBitsPerKey);
      points = AllocateRates(groups, points_goal);
      if (!points.ok()) break;
      // A bit that is moved from one to the other halves the one rate and doubles the other.
      const double too_many = std::log2(point_fraction * points->wasted_reads /
                                        (seek_fraction * ranges.wasted_reads()));
      if (std::abs(too_many) < 0.01) break;
      share = std::clamp(share + too_many / 2, kMinAllocatedBitsPerKey, *goal.bits_per_key);
    }
  }
  if (!points.ok()) return points.status();
  RangeRateAllocation allocation{
      *std::move(points), {}, ranges.wasted_reads(), ranges.bits_per_key()};
  for (const RunGroup& group : groups) allocation.range_fprs.push_back(ranges.Of(group));
  return allocation;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

}  // namespace blocksieve
