#include "integration/cli/database/moved_files.h"

#include <cmath>

#include "integration/cli/database/table/file_report.h"
#include "integration/rocksdb/policy/policy.h"
#include "lib/lsm/level_rules.h"

namespace blocksieve::cli {
namespace {

bool HasUsableRate(const FileReport& file) {
  const FilterReport& filter = file.filter;
  return filter.origin == FilterOrigin::kBlocksieve && filter.predicted_fpr > 0 &&
         filter.predicted_fpr < 1;
}

struct LevelRate {
  int level = 0;
  double fpr = 1;
};

// The rate that each level should have; empty if unknown. Includes an empty level 0, because most
// files come from there.
std::vector<LevelRate> RatesOf(const RunList& list, const FilterPolicyOptions& requested) {
  const lsm::Levels levels = list.Levels(rocksdb_plugin::FixedKind(requested.kind));
  const Result<TreeRates> rates =
      AllocateByLevel(levels, rocksdb_plugin::GoalOf(requested), !requested.prefixes.empty());
  if (!rates.ok()) return {};
  std::vector<LevelRate> known;
  for (size_t i = 0; i < levels.size(); ++i) {
    if (i != 0 && levels[i].num_runs == 0) continue;
    known.push_back({.level = static_cast<int>(i), .fpr = rates->levels[i].target_fpr});
  }
  return known;
}

// Under kind=auto only flushes build Bloom filters.
bool WasFlushed(const FileReport& file) {
  return file.filter.kind == FilterKindName(FilterKind::kBlockedBloom);
}

std::optional<int> BuiltFor(const FileReport& file, const std::vector<LevelRate>& rates,
                            bool kind_is_auto) {
  if (!HasUsableRate(file)) return std::nullopt;
  if (kind_is_auto && WasFlushed(file)) {
    return file.place.level == 0 ? std::nullopt : std::optional(0);
  }
  const auto excess_bits = [&](const LevelRate& rate) {
    return std::log2(rate.fpr / file.filter.predicted_fpr);
  };
  const LevelRate* nearest_above = nullptr;
  for (const LevelRate& rate : rates) {
    if (kind_is_auto && rate.level == 0) continue;
    const double bits = excess_bits(rate);
    if (rate.level == file.place.level) {
      return bits >= kMovedBits && nearest_above != nullptr ? std::optional(nearest_above->level)
                                                            : std::nullopt;
    }
    if (nearest_above == nullptr || std::abs(bits) < std::abs(excess_bits(*nearest_above))) {
      nearest_above = &rate;
    }
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
    const std::vector<LevelRate> rates = RatesOf(list, known->second);
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
