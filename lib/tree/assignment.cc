// SPDX-License-Identifier: Apache-2.0
#include "lib/tree/assignment.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "blocksieve/sizing.h"
#include "lib/filter/kinds.h"

namespace blocksieve::internal {
namespace {

double SavedPerBit(const Choice& from, const Choice& to) {
  return (from.predicted_fpr - to.predicted_fpr) / (to.bits_per_key - from.bits_per_key);
}

}  // namespace

double LargeFilterBitsPerKey(const Layout& layout) {
  // RocksDB's Ribbon takes more bits per key for more keys, so there are as many as in a usual
  // file.
  const uint64_t num_keys = uint64_t{1} << (layout.kind == FilterKind::kStockRibbon ? 18 : 30);
  return 8 * static_cast<double>(PayloadBytes(layout, num_keys)) / static_cast<double>(num_keys);
}

const LayoutChoices& LayoutChoices::ForKind(FilterKind kind) {
  return VisitKind<SizedKinds>(kind, [](auto impl) -> const LayoutChoices& {
    // Never destroyed: databases may be closed while static destructors run.
    static const auto& choices = *new LayoutChoices(impl.kKind);
    return choices;
  });
}

LayoutChoices::LayoutChoices(FilterKind kind) {
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

const Choice* LayoutChoices::BestFor(double price) const {
  size_t best = 0;
  while (best + 1 < hull_.size() && SavedPerBit(*hull_[best], *hull_[best + 1]) >= price) ++best;
  return hull_[best];
}

Assignment::Assignment(std::span<const TreeLevel> levels, size_t num_without) : levels_(levels) {
  std::vector<size_t> by_size(levels.size());
  std::iota(by_size.begin(), by_size.end(), 0);
  std::stable_sort(by_size.begin(), by_size.end(), [&](size_t a, size_t b) {
    return KeysPerLookup(levels[a]) > KeysPerLookup(levels[b]);
  });
  with_filters_.assign(by_size.begin() + static_cast<ptrdiff_t>(num_without), by_size.end());
  if (num_without != 0) partial_ = by_size[num_without - 1];
  chosen_.resize(levels.size());
}

// A bit per key costs memory per key of a run and saves reads per lookup that checks the run. The
// number of runs in the level multiplies both.
void Assignment::ChooseFor(double price) {
  for (const size_t i : with_filters_) {
    chosen_[i] = LayoutChoices::ForKind(levels_[i].kind).BestFor(price * KeysPerLookup(levels_[i]));
  }
}

void Assignment::MoveTowards(const Assignment& beyond, int step, const Check& is_allowed) {
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

bool Assignment::FillPartly(double goal, double (Assignment::*measure)() const) {
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

double Assignment::WastedReads() const {
  double sum = 0;
  for (size_t i = 0; i < levels_.size(); ++i) sum += RunsPerLookup(levels_[i]) * fpr(i);
  return sum;
}

double Assignment::Bits() const {
  double bits = 0;
  for (const size_t i : with_filters_) bits += levels_[i].num_keys() * chosen_[i]->bits_per_key;
  if (share_ == 0) return bits;
  const TreeLevel& level = levels_[*partial_];
  const Choice& smallest = LayoutChoices::ForKind(level.kind).all().front();
  return bits + share_ * level.num_keys() * smallest.bits_per_key;
}

RatePlan Assignment::ToPlan() const {
  RatePlan plan{.wasted_reads = WastedReads(), .bits_per_key = Bits() / NumKeys(levels_)};
  for (size_t i = 0; i < levels_.size(); ++i) plan.levels.push_back({.target_fpr = fpr(i)});
  return plan;
}

namespace {

// The best assignments for two adjacent prices: the highest for which `is_cheap` holds, and the
// next one.
std::pair<Assignment, Assignment> BisectPrice(std::span<const TreeLevel> levels, size_t num_without,
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

}  // namespace

std::optional<Assignment> MinimizeMemory(std::span<const TreeLevel> levels, double wasted_reads) {
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

Assignment MinimizeReads(std::span<const TreeLevel> levels, double bits_per_key) {
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

}  // namespace blocksieve::internal
