#include "bench/scale/model.h"

#include <cmath>

#include "bench/support/terminal.h"

namespace blocksieve::bench::scale {
namespace {

std::vector<uint64_t> LevelKeys(uint64_t num_keys) {
  constexpr auto kRatio = static_cast<double>(kSizeRatio);
  int num_levels = 1;
  for (uint64_t files = num_keys / kKeysPerFile; files >= kSizeRatio; files /= kSizeRatio) {
    ++num_levels;
  }
  const double first =
      static_cast<double>(num_keys) * (kRatio - 1) / (std::pow(kRatio, num_levels) - 1);
  std::vector<uint64_t> level_keys;
  uint64_t rest = num_keys;
  for (int level = 0; level + 1 < num_levels; ++level) {
    level_keys.push_back(static_cast<uint64_t>(first * std::pow(kRatio, level)));
    rest -= level_keys.back();
  }
  level_keys.push_back(rest);
  return level_keys;
}

}  // namespace

TreePlan PlanTree(uint64_t num_keys, const FilterGoal& goal) {
  const std::vector<uint64_t> level_keys = LevelKeys(num_keys);
  std::vector<RunGroup> groups;
  groups.reserve(level_keys.size());
  for (const uint64_t keys : level_keys) {
    groups.push_back({.num_runs = 1, .keys_per_run = static_cast<double>(keys)});
  }
  const RateAllocation allocation = Must(AllocateRates(groups, goal.goal), "rates by level");
  return {.level_keys = level_keys,
          .wasted_reads = allocation.wasted_reads,
          .filter_bytes = allocation.bits_per_key * static_cast<double>(num_keys) / 8};
}

std::vector<uint64_t> ComputedKeys(int per_decade) {
  std::vector<uint64_t> keys;
  for (int i = 6 * per_decade; i <= 12 * per_decade; ++i) {
    keys.push_back(static_cast<uint64_t>(std::llround(std::pow(10.0, 1.0 * i / per_decade))));
  }
  return keys;
}

}  // namespace blocksieve::bench::scale
