#include "blocksieve/rate_allocation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>

#include "blocksieve/sizing.h"
#include "lib/base/errors.h"
#include "lib/filter/keys_per_lookup.h"

namespace blocksieve {
namespace {

// A row of the lookup table, with the bits per key that filters of many keys have, all told.
struct Choice {
  Layout layout;
  double bits_per_key = 0;
};

// The rows of a kind, from the smallest on.
struct Choices {
  std::vector<Choice> all;
  // Of them, those on the lower convex hull of FPR over bits: each buys more per bit than the next.
  // Only these can be best for a price of memory.
  std::vector<size_t> hull;
};

// Of a filter of so many keys that the share of what is rounded is lost.
double BitsPerKey(const Layout& layout) {
  constexpr uint64_t kManyKeys = uint64_t{1} << 30;
  return 8 * static_cast<double>(PayloadBytes(layout, kManyKeys)) / static_cast<double>(kManyKeys);
}

double PerBit(const Choice& from, const Choice& to) {
  return (from.layout.predicted_fpr - to.layout.predicted_fpr) /
         (to.bits_per_key - from.bits_per_key);
}

Choices MakeChoices(FilterKind kind) {
  constexpr double kStep = 1.0 / 16;  // between rows of the table
  Choices choices;
  double lowest_fpr = 1;
  for (int row = 1; lowest_fpr > kMinTargetFpr; ++row) {
    const Result<Layout> layout = LayoutForBitsPerKey(kind, row * kStep);
    if (!layout.ok() || layout->predicted_fpr > kMaxTargetFpr) continue;
    if (layout->predicted_fpr >= lowest_fpr) continue;
    lowest_fpr = layout->predicted_fpr;
    if (lowest_fpr < kMinTargetFpr) break;
    choices.all.push_back({*layout, BitsPerKey(*layout)});
  }
  for (size_t next = 0; next < choices.all.size(); ++next) {
    std::vector<size_t>& hull = choices.hull;
    const auto& all = choices.all;
    while (hull.size() >= 2 &&
           PerBit(all[hull.end()[-2]], all[hull.back()]) <= PerBit(all[hull.back()], all[next])) {
      hull.pop_back();
    }
    hull.push_back(next);
  }
  return choices;
}

const Choices& ChoicesOf(FilterKind kind) {
  static const auto& ribbon = *new Choices(MakeChoices(FilterKind::kRibbon));
  static const auto& bloom = *new Choices(MakeChoices(FilterKind::kBlockedBloom));
  return kind == FilterKind::kRibbon ? ribbon : bloom;
}

// How many of its runs a lookup asks, on average.
double Asked(const RunGroup& group) { return group.num_runs * group.share_of_lookups; }

double NumKeys(std::span<const RunGroup> groups) {
  double sum = 0;
  for (const RunGroup& group : groups) sum += group.num_runs * group.keys_per_run;
  return sum;
}

// The filters of each group: a row of its kind, or, of the largest groups, none. That is decided
// first: between no filter and the smallest one lies half the FPR and a bit for every key, far too
// large a step to be taken or left as the last one.
class Assignment {
 public:
  Assignment(std::span<const RunGroup> groups, size_t num_without) : groups_(groups) {
    std::vector<size_t> by_size(groups.size());
    std::iota(by_size.begin(), by_size.end(), 0);
    std::stable_sort(by_size.begin(), by_size.end(), [&](size_t a, size_t b) {
      return internal::KeysPerLookup(groups[a]) > internal::KeysPerLookup(groups[b]);
    });
    with_filters_.assign(by_size.begin() + static_cast<ptrdiff_t>(num_without), by_size.end());
    chosen_.resize(groups.size());
  }

  /// The best if a bit costs `price` wasted reads. Of a group of many keys a bit per key costs as
  /// often as it has keys, of many runs it also saves as often, and by the share of lookups.
  void ChooseFor(double price) {
    for (const size_t i : with_filters_) {
      const Choices& choices = ChoicesOf(groups_[i].kind);
      const double price_per_key = price * internal::KeysPerLookup(groups_[i]);
      size_t best = 0;
      while (best + 1 < choices.hull.size() &&
             PerBit(choices.all[choices.hull[best]], choices.all[choices.hull[best + 1]]) >=
                 price_per_key) {
        ++best;
      }
      chosen_[i] = &choices.all[choices.hull[best]];
    }
  }

  /// Changes one group after the other as far in the direction of `step`, 1 or -1, as `is_allowed`
  /// holds; it holds now. First towards `beyond`, the best for a price at which it does not hold:
  /// between the two, all rows are equally worth their bits. Then as far as there are rows.
  void GoTowards(const Assignment& beyond, int step,
                 const std::function<bool(const Assignment&)>& is_allowed) {
    const auto go = [&](size_t group, const Choice* last) {
      while (chosen_[group] != last) {
        chosen_[group] += step;
        if (is_allowed(*this)) continue;
        chosen_[group] -= step;
        break;
      }
    };
    for (const size_t i : with_filters_) go(i, beyond.chosen_[i]);
    for (const size_t i : with_filters_) {
      const std::vector<Choice>& all = ChoicesOf(groups_[i].kind).all;
      go(i, step > 0 ? &all.back() : &all.front());
    }
  }

  double WastedReads() const {
    double sum = 0;
    for (size_t i = 0; i < groups_.size(); ++i) sum += Asked(groups_[i]) * fpr(i);
    return sum;
  }

  double Bits() const {
    double bits = 0;
    for (const size_t i : with_filters_) {
      bits += groups_[i].num_runs * groups_[i].keys_per_run * chosen_[i]->bits_per_key;
    }
    return bits;
  }

  RateAllocation ToAllocation() const {
    RateAllocation allocation;
    allocation.wasted_reads = WastedReads();
    allocation.bits_per_key = Bits() / NumKeys(groups_);
    for (size_t i = 0; i < groups_.size(); ++i) allocation.target_fprs.push_back(fpr(i));
    return allocation;
  }

 private:
  double fpr(size_t group) const {
    return chosen_[group] == nullptr ? 1 : chosen_[group]->layout.predicted_fpr;
  }

  std::span<const RunGroup> groups_;
  std::vector<size_t> with_filters_;
  std::vector<const Choice*> chosen_;  // null: no filters
};

// The best assignments of two prices next to each other, where `is_cheap`, which holds for low
// prices, begins to fail.
struct Bracket {
  Assignment cheap;
  Assignment dear;
};

Bracket BisectPrice(std::span<const RunGroup> groups, size_t num_without,
                    const std::function<bool(const Assignment&)>& is_cheap) {
  double most_keys = 1;
  for (const RunGroup& group : groups) {
    most_keys = std::max(most_keys, internal::KeysPerLookup(group));
  }
  // At the low end even the most precise row is worth its price, at the high end no bit is, not
  // even for a run of one key.
  double low = std::log(kMinTargetFpr / 1000 / most_keys);
  double high = std::log(2.0);
  Assignment between(groups, num_without);
  Bracket bracket{between, between};
  bracket.cheap.ChooseFor(std::exp(low));
  bracket.dear.ChooseFor(std::exp(high));
  for (int i = 0; i < 64; ++i) {
    const double middle = (low + high) / 2;
    between.ChooseFor(std::exp(middle));
    const bool goes_low = is_cheap(between);
    (goes_low ? low : high) = middle;
    (goes_low ? bracket.cheap : bracket.dear) = between;
  }
  return bracket;
}

Status CheckRange(const char* name, double value, double lowest, double highest) {
  if (value >= lowest && value <= highest) return Status::Ok();
  return internal::OutOfRange(name, value, lowest, highest);
}

Status CheckGroups(std::span<const RunGroup> groups) {
  for (const RunGroup& group : groups) {
    Status status = CheckRange("keys_per_run", group.keys_per_run, 0, 0x1p50);
    if (status.ok()) status = CheckRange("num_runs", group.num_runs, 0, 0x1p30);
    if (status.ok()) status = CheckRange("share_of_lookups", group.share_of_lookups, 0, 1);
    if (!status.ok()) return status;
    if (group.kind != FilterKind::kRibbon && group.kind != FilterKind::kBlockedBloom) {
      return Status::InvalidArgument("kind of the filters of a run is " +
                                     std::string(FilterKindName(group.kind)) +
                                     "; allowed is ribbon or blocked Bloom");
    }
  }
  if (NumKeys(groups) == 0) {
    return Status::InvalidArgument("number of keys in all sorted runs is 0; allowed is 1 or more");
  }
  return Status::Ok();
}

// The least memory with so few wasted reads; nothing if no filters waste so few.
std::optional<Assignment> LeastMemory(std::span<const RunGroup> groups, double wasted_reads) {
  const auto is_allowed = [&](const Assignment& a) { return a.WastedReads() <= wasted_reads; };
  std::optional<Assignment> best;
  for (size_t num_without = 0; num_without <= groups.size(); ++num_without) {
    Bracket bracket = BisectPrice(groups, num_without, is_allowed);
    if (!is_allowed(bracket.cheap)) break;
    bracket.cheap.GoTowards(bracket.dear, -1, is_allowed);
    // Each further group has fewer keys to save bits of, for each read that it costs.
    if (best && bracket.cheap.Bits() >= best->Bits()) break;
    best = bracket.cheap;
  }
  return best;
}

// The fewest wasted reads with so much memory, which is enough for having no filters.
Assignment FewestReads(std::span<const RunGroup> groups, double bits_per_key) {
  const double bits = bits_per_key * NumKeys(groups);
  const auto is_allowed = [&](const Assignment& a) { return a.Bits() <= bits; };
  const auto is_cheap = [&](const Assignment& a) { return !is_allowed(a); };
  std::optional<Assignment> best;
  for (size_t num_without = 0; num_without <= groups.size(); ++num_without) {
    Bracket bracket = BisectPrice(groups, num_without, is_cheap);
    if (!is_allowed(bracket.dear)) continue;
    bracket.dear.GoTowards(bracket.cheap, 1, is_allowed);
    if (best && bracket.dear.WastedReads() >= best->WastedReads()) break;
    best = bracket.dear;
  }
  return *best;
}

RateAllocation SameForAll(std::span<const RunGroup> groups, double target_fpr) {
  RateAllocation same;
  for (const RunGroup& group : groups) {
    const Layout layout = *ChooseLayout(group.kind, target_fpr);
    same.target_fprs.push_back(target_fpr);
    same.wasted_reads += Asked(group) * layout.predicted_fpr;
    same.bits_per_key += group.num_runs * group.keys_per_run * BitsPerKey(layout);
  }
  same.bits_per_key /= NumKeys(groups);
  return same;
}

// `clamps`: what cannot be reached is no error.
Result<RateAllocation> Allocate(std::span<const RunGroup> groups, const RateGoal& goal,
                                bool clamps) try {
  Status status = goal.Check();
  if (status.ok()) status = CheckGroups(groups);
  if (!status.ok()) return status;
  if (goal.target_fpr) return SameForAll(groups, *goal.target_fpr);
  if (goal.bits_per_key) return FewestReads(groups, *goal.bits_per_key).ToAllocation();
  if (!goal.wasted_reads) {
    return Status::InvalidArgument(
        "none of target_fpr, wasted_reads and bits_per_key is given; allowed is one of them");
  }
  const std::optional<Assignment> best = LeastMemory(groups, *goal.wasted_reads);
  if (best) return best->ToAllocation();
  if (clamps) return SameForAll(groups, kMinTargetFpr);
  return Status::InvalidArgument("wasted_reads is " + internal::ShortestText(*goal.wasted_reads) +
                                 "; no filters of these sorted runs waste so few");
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

}  // namespace

Result<RateAllocation> AllocateForWastedReads(std::span<const RunGroup> groups,
                                              double wasted_reads) {
  return Allocate(groups, {.wasted_reads = wasted_reads}, /*clamps=*/false);
}

Result<RateAllocation> AllocateForBitsPerKey(std::span<const RunGroup> groups,
                                             double bits_per_key) {
  return Allocate(groups, {.bits_per_key = bits_per_key}, /*clamps=*/false);
}

Result<RateAllocation> AllocateRates(std::span<const RunGroup> groups, const RateGoal& goal) {
  return Allocate(groups, goal, /*clamps=*/true);
}

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
    return Status::InvalidArgument(given + " exclude each other; allowed is one of them");
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

}  // namespace blocksieve
