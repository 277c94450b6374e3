// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/tree.h"

#include <algorithm>
#include <utility>

namespace blocksieve {
namespace {

size_t LevelOf(const TreeRun& run) { return static_cast<size_t>(std::max(run.level, 0)); }

}  // namespace

Tree::Tree(std::vector<TreeFile> files, std::string name, bool level0_is_short_lived)
    : name_(std::move(name)),
      files_(std::move(files)),
      level0_is_short_lived_(level0_is_short_lived) {
  for (size_t i = 0; i < files_.size(); ++i) {
    const TreeFile& file = files_[i];
    if (runs_.empty() || file.level == 0 || file.level != runs_.back().level) {
      runs_.push_back({.level = file.level, .first_file = i, .fpr = 0});
    }
    TreeRun& run = runs_.back();
    ++run.num_files;
    run.num_keys += file.num_keys;
    run.fpr += file.fpr * static_cast<double>(file.num_keys);
  }
  Segment& all = segments_.emplace_back(Segment{.lookup_share = 1});
  for (TreeRun& run : runs_) {
    run.fpr = run.num_keys == 0 ? 1 : run.fpr / static_cast<double>(run.num_keys);
    all.parts.emplace_back(&run - runs_.data(), run.num_keys);
  }
}

uint64_t Tree::num_keys() const {
  uint64_t sum = 0;
  for (const TreeRun& run : runs_) sum += run.num_keys;
  return sum;
}

uint64_t Tree::filter_bytes() const {
  uint64_t sum = 0;
  for (const TreeFile& file : files_) sum += file.filter_bytes;
  return sum;
}

void Tree::SetProbes(double per_lookup, double absent_fraction) {
  const auto keys = static_cast<double>(num_keys());
  double newer_runs = 0;  // times keys
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].fpr >= 1) return;
    newer_runs += static_cast<double>(i) * static_cast<double>(runs_[i].num_keys);
  }
  if (keys == 0) return;
  const double other_runs = static_cast<double>(runs_.size()) - 1;
  // Probes per lookup beyond the first, if every run had keys everywhere.
  const double most = absent_fraction * other_runs + (1 - absent_fraction) * newer_runs / keys;
  if (most == 0) return;
  const double shared = std::clamp((per_lookup - 1) / most, 0.0, 1.0);
  std::vector<Segment> segments = {{.lookup_share = shared}};
  for (size_t i = 0; i < runs_.size(); ++i) {
    const auto keys_of_run = static_cast<double>(runs_[i].num_keys);
    segments[0].parts.emplace_back(i, shared * keys_of_run);
    segments.push_back({(1 - shared) * keys_of_run / keys, {{i, (1 - shared) * keys_of_run}}});
  }
  SetSegments(std::move(segments));
}

void Tree::SetLookupShares(std::span<const TreeLevel> levels) {
  for (TreeRun& run : runs_) {
    if (LevelOf(run) >= levels.size() || levels[LevelOf(run)].num_runs == 0) continue;
    run.lookup_share = levels[LevelOf(run)].lookup_share;
  }
}

std::vector<TreeLevel> Tree::ToLevels(const RateGoal& goal) const {
  constexpr TreeLevel kEmpty{.num_runs = 0};
  std::vector<double> share_sums;
  std::vector<TreeLevel> levels(1, kEmpty);
  for (const TreeRun& run : runs_) {
    levels.resize(std::max(levels.size(), LevelOf(run) + 1), kEmpty);
    share_sums.resize(levels.size());
    ++levels[LevelOf(run)].num_runs;
    levels[LevelOf(run)].keys_per_run += static_cast<double>(run.num_keys);
    share_sums[LevelOf(run)] += run.lookup_share;
  }
  for (size_t i = 0; i < share_sums.size(); ++i) {
    if (levels[i].num_runs == 0) continue;
    levels[i].keys_per_run /= levels[i].num_runs;
    levels[i].lookup_share = share_sums[i] / levels[i].num_runs;
  }
  SetKinds(goal, level0_is_short_lived_, &levels);
  return levels;
}

double Tree::WastedReads(std::span<const double> fprs, double absent_fraction) const {
  double keys = 0;
  double for_absent_keys = 0;
  double for_present_keys = 0;  // times keys
  for (const Segment& segment : segments_) {
    double in_newer_runs = 0;
    for (const auto& [run, num_keys] : segment.parts) {
      for_present_keys += num_keys * in_newer_runs;
      in_newer_runs += run < fprs.size() ? fprs[run] : 1;  // no filter
      keys += num_keys;
    }
    for_absent_keys += segment.lookup_share * in_newer_runs;
  }
  if (keys == 0) return 0;
  return absent_fraction * for_absent_keys + (1 - absent_fraction) * for_present_keys / keys;
}

void Tree::SetSegments(std::vector<Segment> segments) {
  segments_ = std::move(segments);
  for (TreeRun& run : runs_) run.lookup_share = 0;
  for (const Segment& segment : segments_) {
    for (const auto& part : segment.parts) runs_[part.first].lookup_share += segment.lookup_share;
  }
  // Sums are rounded.
  for (TreeRun& run : runs_) run.lookup_share = std::min(run.lookup_share, 1.0);
}

}  // namespace blocksieve
