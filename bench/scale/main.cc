// scale: measures filters of up to hundreds of millions of keys, and computes from that the filters
// of databases of up to 10^12 keys.

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <tuple>
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
      const auto& [build, absent] = std::tie(filter.build_ns_per_key, filter.absent_ns);
      job.results.Of(std::string(FilterKindName(kind)), {{"keys", keys}})
          .Add("size", "bytes", filter.bytes)
          .Add("bits per key", "bits", Ratio(8 * filter.bytes, keys))
          .Add("FPR", "share", filter.fpr)
          .Add("FPR, relative to the target", "x", filter.fpr / kTargetFpr)
          .AddTurns("build per key", "ns", {build.begin(), build.end()})
          .AddTurns("absent key", "ns", {absent.begin(), absent.end()})
          .Add("peak memory to build", "bytes", filter.peak_build_bytes)
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
class Formulas {
 public:
  Formulas(const FilterResult& ribbon, Results& results) : ribbon_(ribbon), results_(results) {}

  void AddAll() {
    results_.SetFact("g", ribbon_.bytes_against_table);
    results_.SetFact("f", ribbon_.fpr_against_table);
    results_.SetFact("size_ratio", kSizeRatio);
    results_.SetFact("probes", kProbes);
    for (const FilterGoal& goal : FilterGoals()) {
      for (const uint64_t keys : ComputedKeys(8)) {
        results_.Of(goal.name, {{"keys", keys}})
            .Add("memory", "bytes", Memory(keys, goal))
            .Add("wasted reads", "", WastedReads(keys, goal));
      }
    }
    for (const uint64_t keys : ComputedKeys(1)) AddDecade(keys);
  }

 private:
  double Memory(uint64_t keys, const FilterGoal& goal) const {
    return ribbon_.bytes_against_table * PlanTree(keys, goal).filter_bytes;
  }
  double WastedReads(uint64_t keys, const FilterGoal& goal) const {
    return ribbon_.fpr_against_table * PlanTree(keys, goal).wasted_reads;
  }

  void AddDecade(uint64_t keys) {
    const std::string decade = fmt::format("10^{:.0f} keys", std::log10(keys));
    const auto add = [&](const std::string& what, const char* unit, auto value) {
      results_.Of(what, {{"decade", decade}}).Add("computed", unit, value);
    };
    add("Levels", "count", PlanTree(keys, FilterGoals().front()).level_keys.size());
    for (const FilterGoal& goal : FilterGoals()) {
      add("Memory of filters, " + goal.name, "bytes", Memory(keys, goal));
    }
    for (const FilterGoal& goal : FilterGoals()) {
      add("Wasted reads per lookup, " + goal.name, "", WastedReads(keys, goal));
    }
  }

  const FilterResult& ribbon_;
  Results& results_;
};

void Measure(Job& job) {
  const FilterResult ribbon = MeasureFilters(job.options.quick ? kQuickSizes : kSizes, job);
  Formulas(ribbon, job.results).AddAll();
}

}  // namespace
}  // namespace blocksieve::bench::scale

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunJob(scale::kManual, argc, argv, scale::Measure);
}
