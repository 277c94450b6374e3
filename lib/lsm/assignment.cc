#include "lib/lsm/assignment.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "blocksieve/sizing.h"
#include "lib/lsm/run_groups.h"

namespace blocksieve::lsm {

Assignment::Assignment(std::span<const RunGroup> groups, size_t num_without) : groups_(groups) {
  std::vector<size_t> by_size(groups.size());
  std::iota(by_size.begin(), by_size.end(), 0);
  std::stable_sort(by_size.begin(), by_size.end(), [&](size_t a, size_t b) {
    return KeysPerLookup(groups[a]) > KeysPerLookup(groups[b]);
  });
  with_filters_.assign(by_size.begin() + static_cast<ptrdiff_t>(num_without), by_size.end());
  chosen_.resize(groups.size());
}

// A bit per key costs as often as the group has keys per run, and saves as often as lookups check
// one; of many runs both happen as often.
void Assignment::ChooseFor(double price) {
  for (const size_t i : with_filters_) {
    chosen_[i] = LayoutChoices::ForKind(groups_[i].kind).BestFor(price * KeysPerLookup(groups_[i]));
  }
}

void Assignment::GoTowards(const Assignment& beyond, int step, const Check& is_allowed) {
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
    const std::vector<Choice>& all = LayoutChoices::ForKind(groups_[i].kind).all();
    go(i, step > 0 ? &all.back() : &all.front());
  }
}

double Assignment::WastedReads() const {
  double sum = 0;
  for (size_t i = 0; i < groups_.size(); ++i) sum += RunsPerLookup(groups_[i]) * fpr(i);
  return sum;
}

double Assignment::Bits() const {
  double bits = 0;
  for (const size_t i : with_filters_) bits += NumKeys(groups_[i]) * chosen_[i]->bits_per_key;
  return bits;
}

RateAllocation Assignment::ToAllocation() const {
  RateAllocation allocation;
  allocation.wasted_reads = WastedReads();
  allocation.bits_per_key = Bits() / NumKeys(groups_);
  for (size_t i = 0; i < groups_.size(); ++i) allocation.target_fprs.push_back(fpr(i));
  return allocation;
}

namespace {

// The best assignments of two prices next to each other, where `is_cheap`, which holds for low
// prices, begins to fail.
struct Bracket {
  Assignment cheap;
  Assignment dear;
};

Bracket BisectPrice(std::span<const RunGroup> groups, size_t num_without,
                    const Assignment::Check& is_cheap) {
  double most_keys = 1;
  for (const RunGroup& group : groups) most_keys = std::max(most_keys, KeysPerLookup(group));
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

}  // namespace

std::optional<Assignment> MinMemory(std::span<const RunGroup> groups, double wasted_reads) {
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

Assignment MinReads(std::span<const RunGroup> groups, double bits_per_key) {
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
  return *best;  // no filters at all are always allowed
}

}  // namespace blocksieve::lsm
