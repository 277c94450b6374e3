#include "lib/lsm/tree.h"

#include <algorithm>
#include <utility>

#include "lib/lsm/run_groups.h"

namespace blocksieve::lsm {

bool HasKeys(const Levels& levels) { return NumKeys(levels) > 0; }

FilterKind AutoKind(bool is_short_lived) noexcept {
  return is_short_lived ? FilterKind::kBlockedBloom : FilterKind::kRibbon;
}

void SetKinds(std::optional<FilterKind> kind, bool level0_is_short_lived, Levels* levels) {
  for (RunGroup& level : *levels) {
    const bool is_level0 = &level == &levels->front();
    level.kind = kind.value_or(AutoKind(is_level0 && level0_is_short_lived));
  }
}

Tree::Tree(std::vector<Run> runs, Coverage coverage)
    : runs_(std::move(runs)), coverage_(std::move(coverage)) {
  if (!coverage_.empty()) return;
  KeySegment& all = coverage_.emplace_back();
  all.lookup_share = 1;
  for (size_t i = 0; i < runs_.size(); ++i) {
    all.parts.push_back({.run = i, .num_keys = runs_[i].num_keys});
  }
}

std::vector<double> Tree::LookupShares() const {
  std::vector<double> shares(runs_.size());
  for (const KeySegment& segment : coverage_) {
    for (const RunPart& part : segment.parts) shares[part.run] += segment.lookup_share;
  }
  for (double& share : shares) share = std::min(share, 1.0);  // sums are rounded
  return shares;
}

Levels Tree::ToLevels() const {
  constexpr RunGroup kEmpty{.num_runs = 0};
  const std::vector<double> shares = LookupShares();
  std::vector<double> share_sums;
  Levels levels(1, kEmpty);
  for (size_t i = 0; i < runs_.size(); ++i) {
    const auto number = static_cast<size_t>(std::max(runs_[i].level, 0));
    levels.resize(std::max(levels.size(), number + 1), kEmpty);
    share_sums.resize(levels.size());
    ++levels[number].num_runs;
    levels[number].keys_per_run += runs_[i].num_keys;
    share_sums[number] += shares[i];
  }
  for (size_t i = 0; i < share_sums.size(); ++i) {
    if (levels[i].num_runs == 0) continue;
    levels[i].keys_per_run /= levels[i].num_runs;
    levels[i].lookup_share = share_sums[i] / levels[i].num_runs;
  }
  return levels;
}

double Tree::WastedReads(const std::vector<double>& fprs, double absent_fraction) const {
  double keys = 0;
  double for_absent_keys = 0;
  double for_present_keys = 0;  // times keys
  for (const KeySegment& segment : coverage_) {
    double in_newer_runs = 0;
    for (const RunPart& part : segment.parts) {
      for_present_keys += part.num_keys * in_newer_runs;
      in_newer_runs += fprs[part.run];
      keys += part.num_keys;
    }
    for_absent_keys += segment.lookup_share * in_newer_runs;
  }
  if (keys == 0) return 0;
  return absent_fraction * for_absent_keys + (1 - absent_fraction) * for_present_keys / keys;
}

}  // namespace blocksieve::lsm
