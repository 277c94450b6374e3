// scale: measures filters of up to hundreds of millions of keys, and computes from that the filters
// of databases of up to 10^12 keys.

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/scale/filters.h"
#include "bench/scale/model.h"
#include "bench/support/job.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::scale {
namespace {

// Numbers of keys of the measured filters, ascending: in some minutes, and within a minute.
const std::vector<uint64_t> kSizes = {1'000'000, 10'000'000, 100'000'000, 300'000'000};
const std::vector<uint64_t> kQuickSizes = {1'000'000, 10'000'000};

constexpr double kTargetFpr = 0.01;

// Goals that are compared.
const std::vector<FilterGoal> kGoals = {{"target_fpr=0.01", {.target_fpr = kTargetFpr}},
                                        {"wasted_reads=0.01", {.wasted_reads = 0.01}},
                                        {"bits_per_key=10", {.bits_per_key = 10}}};

const JobManual kManual = {
    .benchmark = "scale",
    .description = "Filters of 10^6 keys and more: measured, and computed for up to 10^12 keys",
    .quick_help = "at most 10^7 keys: within a minute",
};

// Measures filters of all sizes. Returns the measurements of the largest ribbon.
FilterResult MeasureFilters(const std::vector<uint64_t>& sizes, Job& job) {
  FilterResult largest_ribbon;
  uint64_t probed = 0;
  uint64_t false_negatives = 0;
  for (const FilterKind kind : {FilterKind::kRibbon, FilterKind::kBlockedBloom}) {
    for (const uint64_t keys : sizes) {
      job.progress.Show(fmt::format("{} of {} keys", FilterKindName(kind), keys));
      const FilterResult filter = MeasureFilter(kind, kTargetFpr, keys);
      if (kind == FilterKind::kRibbon) largest_ribbon = filter;
      probed += keys;
      false_negatives += filter.false_negatives;
      job.results.Of(std::string(FilterKindName(kind)), {{"keys", keys}})
          .Add("size", "bytes", filter.bytes)
          .Add("bits per key", "bits", Ratio(8 * filter.bytes, keys))
          .Add("FPR", "share", filter.fpr)
          .Add("FPR, relative to the target", "x", filter.fpr / kTargetFpr)
          .AddTurns("build per key", "ns", filter.build_ns_per_key)
          .AddTurns("absent key", "ns", filter.absent_ns)
          .Add("false negatives", "count", filter.false_negatives);
    }
  }
  job.results.Of("all")
      .Add("keys probed", "count", probed)
      .Add("false negatives of all filters", "count", false_negatives)
      .Add("keys of the largest filter", "count", sizes.back());
  return largest_ribbon;
}

// The formulas: the lookup table's figures, times the ratio by which a measured ribbon differs.
void AddFormulas(const FilterResult& ribbon, Results& results) {
  results.SetFact("g", ribbon.bytes_against_table);
  results.SetFact("f", ribbon.fpr_against_table);
  results.SetFact("size_ratio", kSizeRatio);
  results.SetFact("probes", kProbes);
  const auto memory = [&](uint64_t keys, const FilterGoal& goal) {
    return ribbon.bytes_against_table * PlanTree(keys, goal).filter_bytes;
  };
  const auto wasted_reads = [&](uint64_t keys, const FilterGoal& goal) {
    return ribbon.fpr_against_table * PlanTree(keys, goal).wasted_reads;
  };
  for (const FilterGoal& goal : kGoals) {
    for (const uint64_t keys : ComputedKeys(8)) {
      results.Of(goal.name, {{"keys", keys}})
          .Add("memory", "bytes", memory(keys, goal))
          .Add("wasted reads", "", wasted_reads(keys, goal));
    }
  }
  for (const uint64_t keys : ComputedKeys(1)) {
    const std::string decade = fmt::format("10^{:.0f} keys", std::log10(keys));
    const auto add = [&](const std::string& what, const char* unit, auto value) {
      results.Of(what, {{"decade", decade}}).Add("computed", unit, value);
    };
    add("Levels", "count", PlanTree(keys, kGoals.front()).level_keys.size());
    for (const FilterGoal& goal : kGoals) {
      add("Memory of filters, " + goal.name, "bytes", memory(keys, goal));
    }
    for (const FilterGoal& goal : kGoals) {
      add("Wasted reads per lookup, " + goal.name, "", wasted_reads(keys, goal));
    }
  }
}

void Measure(Job& job) {
  AddFormulas(MeasureFilters(job.options.quick ? kQuickSizes : kSizes, job), job.results);
}

}  // namespace
}  // namespace blocksieve::bench::scale

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunJob(scale::kManual, argc, argv, scale::Measure);
}
