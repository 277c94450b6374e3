// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/sizing.h"
#include "blocksieve/tree.h"
#include "lib/base/errors.h"
#include "lib/filter/kinds.h"

// The optimum of a tree that stays as it is.

namespace blocksieve {
namespace {

using internal::CheckRange;
using Levels = std::span<const TreeLevel>;

/// Average number of the level's runs that a lookup checks.
double RunsPerLookup(const TreeLevel& level) noexcept {
  return level.num_runs * level.lookup_share;
}

/// Cost of a bit per key for each read that it saves. Larger than all others for a run that no
/// lookup checks.
double KeysPerLookup(const TreeLevel& level) noexcept {
  constexpr double kMinShare = 1e-9;
  return level.keys_per_run / std::max(level.lookup_share, kMinShare);
}

/// A row of the lookup table, with its LargeFilterBitsPerKey.
using Choice = Layout;

/// Bits per key of a filter with enough keys to make rounding negligible.
double LargeFilterBitsPerKey(const Layout& layout) {
  // RocksDB's Ribbon takes more bits per key for more keys, so there are as many as in a usual
  // file.
  const uint64_t num_keys = uint64_t{1} << (layout.kind == FilterKind::kStockRibbon ? 18 : 30);
  return 8 * static_cast<double>(PayloadBytes(layout, num_keys)) / static_cast<double>(num_keys);
}

double SavedPerBit(const Choice& from, const Choice& to) {
  return (from.predicted_fpr - to.predicted_fpr) / (to.bits_per_key - from.bits_per_key);
}

/// The rows of a kind in ascending size, without rows that a smaller one equals in FPR.
class LayoutChoices {
 public:
  explicit LayoutChoices(FilterKind kind) {
    constexpr double kStep = 1.0 / 16;  // between rows of the table
    double lowest_fpr = 1;
    for (int row = 1; lowest_fpr > kMinTargetFpr; ++row) {
      Result<Layout> layout = LayoutForBitsPerKey(kind, row * kStep);
      if (!layout.ok() || layout->predicted_fpr > kMaxTargetFpr) continue;
      if (layout->predicted_fpr >= lowest_fpr) continue;
      lowest_fpr = layout->predicted_fpr;
      if (lowest_fpr < kMinTargetFpr) break;
      layout->bits_per_key = LargeFilterBitsPerKey(*layout);
      all_.push_back(*layout);
    }
    for (const Choice& next : all_) {
      while (hull_.size() >= 2 &&
             SavedPerBit(*hull_.end()[-2], *hull_.back()) <= SavedPerBit(*hull_.back(), next)) {
        hull_.pop_back();
      }
      hull_.push_back(&next);
    }
  }

  LayoutChoices(const LayoutChoices&) = delete;

  /// Computed at the first call. REQUIRES: not kNone. Throws std::bad_alloc.
  static const LayoutChoices& ForKind(FilterKind kind) {
    return internal::VisitKind<internal::SizedKinds>(kind, [](auto impl) -> const LayoutChoices& {
      // Never destroyed: databases may be closed while static destructors run.
      static const auto& choices = *new LayoutChoices(impl.kKind);
      return choices;
    });
  }

  const std::vector<Choice>& all() const { return all_; }

  /// The best choice if a bit per key costs this many false positives per lookup.
  const Choice* BestFor(double price) const {
    size_t best = 0;
    while (best + 1 < hull_.size() && SavedPerBit(*hull_[best], *hull_[best + 1]) >= price) ++best;
    return hull_[best];
  }

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
  Assignment(Levels levels, size_t num_without) : levels_(levels) {
    std::vector<size_t> by_size(levels.size());
    std::iota(by_size.begin(), by_size.end(), 0);
    std::stable_sort(by_size.begin(), by_size.end(), [&](size_t a, size_t b) {
      return KeysPerLookup(levels[a]) > KeysPerLookup(levels[b]);
    });
    with_filters_.assign(by_size.begin() + static_cast<ptrdiff_t>(num_without), by_size.end());
    if (num_without != 0) partial_ = by_size[num_without - 1];
    chosen_.resize(levels.size());
  }

  /// Chooses the best filters if a bit costs `price` wasted reads.
  // A bit per key costs memory per key of a run and saves reads per lookup that checks the run. The
  // number of runs in the level multiplies both.
  void ChooseFor(double price) {
    for (const size_t i : with_filters_) {
      chosen_[i] =
          LayoutChoices::ForKind(levels_[i].kind).BestFor(price * KeysPerLookup(levels_[i]));
    }
  }

  using Check = std::function<bool(const Assignment&)>;

  /// Moves one level after the other in the direction of `step` (1 or -1) while `is_allowed` holds.
  /// First towards `beyond`, the best assignment for a price at which it does not hold: all rows up
  /// to it are equally worth their bits. Then to the last row. REQUIRES: is_allowed(*this)
  void MoveTowards(const Assignment& beyond, int step, const Check& is_allowed) {
    const auto go = [&](size_t level, const Choice* last) {
      while (chosen_[level] != last) {
        chosen_[level] += step;
        if (is_allowed(*this)) continue;
        chosen_[level] -= step;
        break;
      }
    };
    for (const size_t i : with_filters_) go(i, beyond.chosen_[i]);
    for (const size_t i : with_filters_) {
      const std::vector<Choice>& all = LayoutChoices::ForKind(levels_[i].kind).all();
      go(i, step > 0 ? &all.back() : &all.front());
    }
  }

  /// Gives the smallest filter to a share of the files of the level that has the fewest keys per
  /// lookup among those without filters, and chooses the others for the price that its bits have.
  /// Returns whether a share makes `measure`, Bits or WastedReads, equal to the goal; without, only
  /// the destructor may be called.
  bool FillPartly(double goal, double (Assignment::*measure)() const) {
    constexpr double kRounding = 1 - 1e-9;  // never above the goal
    if (!partial_) return false;
    const TreeLevel& level = levels_[*partial_];
    const Choice& smallest = LayoutChoices::ForKind(level.kind).all().front();
    ChooseFor((1 - kMaxTargetFpr) / smallest.bits_per_key / KeysPerLookup(level));
    const double of_none = (this->*measure)();
    share_ = 1;
    share_ = (kRounding * goal - of_none) / ((this->*measure)() - of_none);
    return share_ > 0 && share_ < 1;
  }

  double WastedReads() const {
    double sum = 0;
    for (size_t i = 0; i < levels_.size(); ++i) sum += RunsPerLookup(levels_[i]) * fpr(i);
    return sum;
  }

  double Bits() const {
    double bits = 0;
    for (const size_t i : with_filters_) bits += levels_[i].num_keys() * chosen_[i]->bits_per_key;
    if (share_ == 0) return bits;
    const TreeLevel& level = levels_[*partial_];
    const Choice& smallest = LayoutChoices::ForKind(level.kind).all().front();
    return bits + share_ * level.num_keys() * smallest.bits_per_key;
  }

  RatePlan ToPlan() const {
    RatePlan plan{.wasted_reads = WastedReads(), .bits_per_key = Bits() / NumKeys(levels_)};
    for (size_t i = 0; i < levels_.size(); ++i) plan.levels.push_back({.target_fpr = fpr(i)});
    return plan;
  }

 private:
  double fpr(size_t level) const {
    if (chosen_[level] != nullptr) return chosen_[level]->predicted_fpr;
    return partial_ == level ? FprOfShare(share_) : 1;
  }

  Levels levels_;
  std::vector<size_t> with_filters_;
  std::vector<const Choice*> chosen_;  // null: no filter
  std::optional<size_t> partial_;      // of the levels without filters, the next to get one
  double share_ = 0;                   // of its files that do
};

// The best assignments for two adjacent prices: the highest for which `is_cheap` holds, and the
// next one.
std::pair<Assignment, Assignment> BisectPrice(Levels levels, size_t num_without,
                                              const Assignment::Check& is_cheap) {
  double max_keys = 1;
  for (const TreeLevel& level : levels) max_keys = std::max(max_keys, KeysPerLookup(level));
  // At the low price even the lowest FPR pays off, at the high price not even one bit for a run of
  // one key.
  double low = std::log(kMinTargetFpr / 1000 / max_keys);
  double high = std::log(2.0);
  Assignment candidate(levels, num_without);
  std::pair<Assignment, Assignment> bracket(candidate, candidate);
  bracket.first.ChooseFor(std::exp(low));
  bracket.second.ChooseFor(std::exp(high));
  for (int i = 0; i < 64; ++i) {
    const double middle = (low + high) / 2;
    candidate.ChooseFor(std::exp(middle));
    const bool raises_low = is_cheap(candidate);
    (raises_low ? low : high) = middle;
    (raises_low ? bracket.first : bracket.second) = candidate;
  }
  return bracket;
}

// Both search for the price of a bit, in wasted reads, at which the best assignment meets a goal.

/// The least memory with at most this many wasted reads; nullopt if no filters achieve that.
std::optional<Assignment> MinimizeMemory(Levels levels, double wasted_reads) {
  const auto is_allowed = [&](const Assignment& a) { return a.WastedReads() <= wasted_reads; };
  std::optional<Assignment> best;
  for (size_t num_without = 0; num_without <= levels.size(); ++num_without) {
    Assignment partly(levels, num_without);
    if (partly.FillPartly(wasted_reads, &Assignment::WastedReads) &&
        (!best || partly.Bits() < best->Bits())) {
      best = partly;
    }
    auto [cheap, expensive] = BisectPrice(levels, num_without, is_allowed);
    if (!is_allowed(cheap)) break;
    cheap.MoveTowards(expensive, -1, is_allowed);
    // Each further level without filters saves fewer bits for each wasted read that it costs.
    if (best && cheap.Bits() >= best->Bits()) break;
    best = cheap;
  }
  return best;
}

/// The fewest wasted reads with at most this much memory.
Assignment MinimizeReads(Levels levels, double bits_per_key) {
  const double bits = bits_per_key * NumKeys(levels);
  const auto is_allowed = [&](const Assignment& a) { return a.Bits() <= bits; };
  const auto is_cheap = [&](const Assignment& a) { return !is_allowed(a); };
  std::optional<Assignment> best;
  for (size_t num_without = 0; num_without <= levels.size(); ++num_without) {
    Assignment partly(levels, num_without);
    if (partly.FillPartly(bits, &Assignment::Bits) &&
        (!best || partly.WastedReads() < best->WastedReads())) {
      best = partly;
    }
    auto [cheap, expensive] = BisectPrice(levels, num_without, is_cheap);
    if (!is_allowed(expensive)) continue;
    expensive.MoveTowards(cheap, 1, is_allowed);
    if (best && expensive.WastedReads() >= best->WastedReads()) break;
    best = expensive;
  }
  return *best;  // an assignment without filters is always allowed
}

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
    same.bits_per_key += level.num_keys() * LargeFilterBitsPerKey(layout);
  }
  same.bits_per_key /= NumKeys(levels);
  return same;
}

RatePlan AllocateForReads(Levels levels, double wasted_reads) {
  const std::optional<Assignment> best = MinimizeMemory(levels, wasted_reads);
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
    points = MinimizeReads(levels, left).ToPlan();
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
  return MinimizeReads(levels, bits_per_key).ToPlan();
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
  if (goal.bits_per_key) return MinimizeReads(levels, *goal.bits_per_key).ToPlan();
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
        shares[i] +=
            std::min(ShareOfFpr(fpr), 1.0) * level.num_keys() * LargeFilterBitsPerKey(*layout) / 8;
      }
    }
    sum += shares[i];
  }
  // What no filter needs is for trees that grow.
  for (double& share : shares) share += (bytes - sum) / static_cast<double>(trees.size());
  return shares;
}

}  // namespace blocksieve
