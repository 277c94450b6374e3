// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/database/database.h"

#include <cmath>

#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::cli {
namespace {

// The rate that each level should have; empty if unknown. Includes an empty level 0, because most
// files come from there.
std::map<int, double> RatesOf(const Tree& tree, const RateGoal& goal) {
  const std::vector<TreeLevel> levels = tree.ToLevels(goal);
  const Result<RatePlan> plan = AllocateByLevel(levels, goal);
  if (!plan.ok()) return {};
  std::map<int, double> known;
  for (size_t i = 0; i < levels.size(); ++i) {
    if (i == 0 || levels[i].num_runs != 0) known[static_cast<int>(i)] = plan->levels[i].target_fpr;
  }
  return known;
}

std::optional<int> BuiltFor(const FileReport& file, const std::map<int, double>& rates,
                            bool kind_is_auto, FilterOrigin origin) {
  const double fpr_of_file = file.filter.predicted_fpr;
  if (file.filter.origin != origin || fpr_of_file <= 0 || fpr_of_file >= 1) {
    return std::nullopt;
  }
  // Under kind=auto only flushes build Bloom filters.
  if (kind_is_auto && file.filter.kind == FilterKindName(FilterKind::kBlockedBloom)) {
    return file.place.level == 0 ? std::nullopt : std::optional(0);
  }
  std::optional<int> nearest_above;
  double nearest_bits = 0;
  for (const auto& [level, fpr] : rates) {
    if (kind_is_auto && level == 0) continue;
    const double excess_bits = std::log2(fpr / fpr_of_file);
    if (level == file.place.level) return excess_bits >= kMovedBits ? nearest_above : std::nullopt;
    if (nearest_above && std::abs(excess_bits) >= nearest_bits) continue;
    nearest_above = level;
    nearest_bits = std::abs(excess_bits);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::optional<int>> LevelsBuiltFor(const std::vector<FileReport>& files,
                                               const RequestedRatesByFamily& requested) {
  std::vector<std::optional<int>> levels(files.size());
  for (const Tree& tree : rocksdb_plugin::TreesOf(files)) {
    const auto known = requested.find(tree.name());
    if (known == requested.end()) continue;
    const RateGoal goal = rocksdb_plugin::GoalOf(known->second);
    if (!goal.differs_by_run()) continue;
    const std::map<int, double> rates = RatesOf(tree, goal);
    for (const TreeFile& file : tree.files()) {
      levels[file.id] = BuiltFor(files[file.id], rates, !goal.kind,
                                 goal.is_stock ? FilterOrigin::kStock : FilterOrigin::kBlocksieve);
    }
  }
  return levels;
}

}  // namespace blocksieve::cli
