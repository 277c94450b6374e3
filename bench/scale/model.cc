#include "bench/scale/model.h"

#include <fmt/format.h>

#include <cmath>

#include "bench/support/terminal.h"
#include "blocksieve/rate_allocation.h"
#include "blocksieve/sizing.h"

namespace blocksieve::bench::scale {
namespace {

template <class T>
T Must(Result<T> result) {
  if (!result.ok()) Fail("{}", result.status().message());
  return *std::move(result);
}

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

RateAllocation Allocate(const std::vector<RunGroup>& groups, const Asking& asking) {
  switch (asking.way) {
    case Asking::Way::kWastedReads:
      return Must(AllocateForWastedReads(groups, asking.value));
    case Asking::Way::kBitsPerKey:
      return Must(AllocateForBitsPerKey(groups, asking.value));
    case Asking::Way::kTargetFpr:
      break;
  }
  const Layout layout = Must(ChooseLayout(FilterKind::kRibbon, asking.value));
  RateAllocation same;
  same.target_fprs.assign(groups.size(), asking.value);
  same.wasted_reads = layout.predicted_fpr * static_cast<double>(groups.size());
  same.bits_per_key = 8 * static_cast<double>(PayloadBytes(layout, kKeysPerFile)) /
                      static_cast<double>(kKeysPerFile);
  return same;
}

}  // namespace

std::string Asking::name() const {
  constexpr const char* kNames[] = {"target_fpr", "wasted_reads", "bits_per_key"};
  return fmt::format("{}={}", kNames[static_cast<size_t>(way)], value);
}

const std::vector<Asking>& Askings() {
  static const std::vector<Asking> askings = {{Asking::Way::kTargetFpr, 0.01},
                                              {Asking::Way::kWastedReads, 0.01},
                                              {Asking::Way::kBitsPerKey, 10}};
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
  const RateAllocation allocation = Allocate(groups, asking);
  plan.target_fprs = allocation.target_fprs;
  plan.wasted_reads = allocation.wasted_reads;
  plan.bits_per_key = allocation.bits_per_key;
  return plan;
}

Constants ConstantsOf(const Results& results) {
  const FilterResult& filter = results.largest_ribbon();
  const AnalysisResult& analysis = results.largest_analysis();
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
        {.asked = asking.name(),
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
