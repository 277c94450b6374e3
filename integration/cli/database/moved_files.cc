#include "integration/cli/database/database.h"

#include <cmath>

#include "integration/cli/database/table/file_report.h"
#include "integration/rocksdb/policy/policy.h"
#include "lib/lsm/level_rules.h"

namespace blocksieve::cli {
namespace {

// The rate that each level should have; empty if unknown. Includes an empty level 0, because most
// files come from there.
std::map<int, double> RatesOf(const RunList& list, const FilterPolicyOptions& requested) {
  const lsm::Levels levels = list.Levels(rocksdb_plugin::FixedKind(requested.kind));
  const Result<TreeRates> rates =
      AllocateByLevel(levels, rocksdb_plugin::GoalOf(requested), !requested.prefixes.empty());
  if (!rates.ok()) return {};
  std::map<int, double> known;
  for (size_t i = 0; i < levels.size(); ++i) {
    if (i == 0 || levels[i].num_runs != 0) known[static_cast<int>(i)] = rates->levels[i].target_fpr;
  }
  return known;
}

std::optional<int> BuiltFor(const FileReport& file, const std::map<int, double>& rates,
                            bool kind_is_auto) {
  const double fpr_of_file = file.filter.predicted_fpr;
  if (file.filter.origin != FilterOrigin::kBlocksieve || fpr_of_file <= 0 || fpr_of_file >= 1) {
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
  for (const RunList& list : SortIntoRuns(files)) {
    const auto known = requested.find(list.family);
    if (known == requested.end() || !rocksdb_plugin::GoalOf(known->second).differs_by_run())
      continue;
    const std::map<int, double> rates = RatesOf(list, known->second);
    for (const SortedRun& run : list.runs) {
      for (const FileReport* const file : run.files) {
        levels[static_cast<size_t>(file - files.data())] =
            BuiltFor(*file, rates, known->second.kind == PolicyKind::kAuto);
      }
    }
  }
  return levels;
}

}  // namespace blocksieve::cli
