#include "lib/lsm/layout_choices.h"

#include <cstdint>
#include <map>

#include "lib/filter/block_sizing.h"

namespace blocksieve::lsm {
namespace {

double SavedPerBit(const Choice& from, const Choice& to) {
  return (from.fpr() - to.fpr()) / (to.bits_per_key - from.bits_per_key);
}

}  // namespace

double LargeFilterBitsPerKey(const Layout& layout) {
  constexpr uint64_t kManyKeys = uint64_t{1} << 30;
  return 8 * static_cast<double>(PayloadBytes(layout, kManyKeys)) / static_cast<double>(kManyKeys);
}

const LayoutChoices& LayoutChoices::ForKind(FilterKind kind) {
  static const auto& by_kind = *[] {
    auto* const choices = new std::map<FilterKind, LayoutChoices>;
    for (const FilterKind built : BuildableFilterKinds()) choices->try_emplace(built, built);
    return choices;
  }();
  return by_kind.at(kind);
}

LayoutChoices::LayoutChoices(FilterKind kind) {
  constexpr double kStep = 1.0 / 16;  // between rows of the table
  double lowest_fpr = 1;
  for (int row = 1; lowest_fpr > kMinTargetFpr; ++row) {
    const Result<Layout> layout = LayoutForBitsPerKey(kind, row * kStep);
    if (!layout.ok() || layout->predicted_fpr > kMaxTargetFpr) continue;
    if (layout->predicted_fpr >= lowest_fpr) continue;
    lowest_fpr = layout->predicted_fpr;
    if (lowest_fpr < kMinTargetFpr) break;
    all_.push_back({*layout, LargeFilterBitsPerKey(*layout)});
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

}  // namespace blocksieve::lsm
