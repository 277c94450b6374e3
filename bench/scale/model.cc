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

const std::vector<Asking>& Askings() {
  static const std::vector<Asking> askings = {{"target_fpr=0.01", {.target_fpr = 0.01}},
                                              {"wasted_reads=0.01", {.wasted_reads = 0.01}},
                                              {"bits_per_key=10", {.bits_per_key = 10}}};
  return askings;
}

uint64_t NumFiles(uint64_t level_keys) { return (level_keys + kKeysPerFile - 1) / kKeysPerFile; }

TreePlan PlanTree(uint64_t num_keys, const Asking& asking) {
  TreePlan plan;
  plan.level_keys = LevelKeys(num_keys);
  std::vector<RunGroup> groups;
  for (const uint64_t keys : plan.level_keys) {
    groups.push_back({.num_runs = 1, .keys_per_run = static_cast<double>(keys)});
  }
  const Result<RateAllocation> allocation = AllocateRates(groups, asking.goal);
  if (!allocation.ok()) Fail("{}", allocation.status().message());
  plan.target_fprs = allocation->target_fprs;
  plan.wasted_reads = allocation->wasted_reads;
  plan.bits_per_key = allocation->bits_per_key;
  return plan;
}

Constants ConstantsOf(const Measurements& measured) {
  const FilterResult& filter = measured.largest_ribbon();
  const AnalysisResult& analysis = measured.largest_analysis();
  return {.block_bytes = filter.bytes_against_table(),
          .fpr = filter.fpr_against_table(),
          .seconds_per_file = analysis.seconds_per_file(),
          .index_bytes = static_cast<double>(analysis.bytes) / static_cast<double>(analysis.rows)};
}

ComputedScale Compute(uint64_t num_keys, const Constants& constants) {
  const auto keys = static_cast<double>(num_keys);
  ComputedScale computed;
  computed.keys = num_keys;
  for (const Asking& asking : Askings()) {
    const TreePlan plan = PlanTree(num_keys, asking);
    computed.levels = plan.level_keys.size();
    computed.filters.push_back(
        {.asked = asking.name,
         .memory_bytes = constants.block_bytes * keys * plan.bits_per_key / 8,
         .wasted_reads = constants.fpr * plan.wasted_reads});
  }
  computed.index_bytes = constants.index_bytes * keys;
  computed.analysis_seconds = constants.seconds_per_file * keys / static_cast<double>(kKeysPerFile);
  return computed;
}

std::vector<uint64_t> ComputedKeys() {
  constexpr int kPerDecade = 8;
  std::vector<uint64_t> keys;
  for (int i = 6 * kPerDecade; i <= 12 * kPerDecade; ++i) {
    keys.push_back(
        static_cast<uint64_t>(std::llround(std::pow(10.0, static_cast<double>(i) / kPerDecade))));
  }
  return keys;
}

}  // namespace blocksieve::bench::scale
