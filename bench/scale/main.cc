// scale: measures filters of up to hundreds of millions of keys and the filters of whole trees, and
// computes from that the filters of databases of up to 10^12 keys.

#include <fmt/format.h>

#include <algorithm>
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

// Numbers of keys, ascending. The defaults take some minutes and 6 GB of memory.
struct Effort {
  std::vector<uint64_t> filter_keys = {1'000'000, 10'000'000, 100'000'000, 300'000'000};
  std::vector<uint64_t> tree_keys = {1'000'000, 10'000'000, 100'000'000, 1'000'000'000};

  // Within a minute.
  static Effort Quick() { return {{1'000'000, 10'000'000}, {1'000'000, 10'000'000}}; }
};

constexpr double kTargetFpr = 0.01;

const JobManual kManual = {
    .name = "bench/run scale",
    .description = "Filters of 10^6 keys and more: measured, and computed for up to 10^12 keys",
    .quick_help = "at most 10^7 keys: within a minute",
    .files = "scale.json and plots",
};

class Experiment {
 public:
  Experiment(const Effort& effort, Job& job)
      : effort_(effort), progress_(job.progress), results_(job.results) {}

  void Run() {
    MeasureFilters();
    Compute();
    MeasureTrees();
    results_.Of("all")
        .Add("keys probed", "count", probed_)
        .Add("false negatives of all filters", "count", false_negatives_)
        .Add("keys of the largest filter", "count", static_cast<double>(effort_.filter_keys.back()))
        .Add("largest deviation from M(N)", "share", memory_off_)
        .Add("largest deviation from W(N)", "share", wasted_reads_off_);
  }

 private:
  void MeasureFilters() {
    for (const FilterKind kind : {FilterKind::kRibbon, FilterKind::kBlockedBloom}) {
      for (const uint64_t keys : effort_.filter_keys) {
        progress_.Show(fmt::format("{} of {} keys", FilterKindName(kind), keys));
        const FilterResult filter = MeasureFilter(kind, kTargetFpr, keys);
        if (kind == FilterKind::kRibbon) largest_ribbon_ = filter;
        const auto& [build, absent] = std::tie(filter.build_ns_per_key, filter.absent_ns);
        auto rows = results_.Of(std::string(FilterKindName(kind)), {{"keys", keys}});
        AddSize(filter.bytes, "size", keys, rows);
        rows.Add("FPR", "share", filter.fpr)
            .Add("FPR, relative to the target", "x", filter.fpr / kTargetFpr)
            .AddTurns("build per key", "ns", {build.begin(), build.end()})
            .AddTurns("absent key", "ns", {absent.begin(), absent.end()})
            .Add("peak memory to build", "bytes", static_cast<double>(filter.peak_build_bytes));
        AddFalseNegatives(filter.false_negatives, keys, rows);
      }
    }
    results_.SetFact("g", largest_ribbon_.bytes_against_table);
    results_.SetFact("f", largest_ribbon_.fpr_against_table);
    results_.SetFact("size_ratio", kSizeRatio);
    results_.SetFact("probes", kProbes);
  }

  void MeasureTrees() {
    for (const FilterGoal& goal : FilterGoals()) {
      for (const uint64_t keys : effort_.tree_keys) {
        progress_.Show(fmt::format("tree of {} keys, {}", keys, goal.name));
        const TreePlan plan = PlanTree(keys, goal);
        const TreeResult tree = MeasureTree(plan);
        const double memory_off = static_cast<double>(tree.bytes) / Memory(plan) - 1;
        const double wasted_reads_off = tree.wasted_reads / WastedReads(plan) - 1;
        memory_off_ = std::max(memory_off_, std::abs(memory_off));
        wasted_reads_off_ = std::max(wasted_reads_off_, std::abs(wasted_reads_off));
        auto rows = results_.Of(goal.name, {{"keys", keys}, {"from", "built"}});
        rows.Add("files", "count", static_cast<double>(tree.files));
        AddSize(tree.bytes, "memory", keys, rows);
        rows.Add("deviation from M(N)", "share", memory_off)
            .Add("wasted reads", "", tree.wasted_reads)
            .Add("deviation from W(N)", "share", wasted_reads_off);
        AddFalseNegatives(tree.false_negatives, keys, rows);
      }
    }
  }

  static void AddSize(uint64_t size, const char* what, uint64_t keys, Results::Rows& rows) {
    const auto bytes = static_cast<double>(size);
    rows.Add(what, "bytes", bytes)
        .Add("bits per key", "bits", 8 * bytes / static_cast<double>(keys));
  }

  void AddFalseNegatives(uint64_t false_negatives, uint64_t probed, Results::Rows& rows) {
    rows.Add("false negatives", "count", static_cast<double>(false_negatives));
    probed_ += static_cast<double>(probed);
    false_negatives_ += static_cast<double>(false_negatives);
  }

  // The formulas: the lookup table's figures, times the ratio by which the largest ribbon differs.
  double Memory(const TreePlan& plan) const {
    return largest_ribbon_.bytes_against_table * plan.filter_bytes;
  }
  double WastedReads(const TreePlan& plan) const {
    return largest_ribbon_.fpr_against_table * plan.wasted_reads;
  }

  void Compute() {
    const uint64_t largest_tree = effort_.tree_keys.back();
    results_.SetFact("largest_tree", largest_tree);
    for (const FilterGoal& goal : FilterGoals()) {
      // The extrapolated line of a plot begins where the computed one ends.
      for (const uint64_t keys : ComputedKeys(8)) {
        const TreePlan plan = PlanTree(keys, goal);
        for (const auto& [from, is_drawn] : {std::pair("computed", keys <= largest_tree),
                                             {"extrapolated", keys >= largest_tree}}) {
          if (!is_drawn) continue;
          results_.Of(goal.name, {{"keys", keys}, {"from", from}})
              .Add("memory", "bytes", Memory(plan))
              .Add("wasted reads", "", WastedReads(plan));
        }
      }
    }
    for (const uint64_t keys : ComputedKeys(1)) AddDecade(keys);
  }

  void AddDecade(uint64_t keys) {
    const std::string decade = fmt::format("10^{:.0f} keys", std::log10(keys));
    const auto add = [&](const std::string& what, const char* unit, double value) {
      results_.Of(what, {{"decade", decade}}).Add("computed", unit, value);
    };
    const auto levels = PlanTree(keys, FilterGoals().front()).level_keys.size();
    add("Levels", "count", static_cast<double>(levels));
    for (const FilterGoal& goal : FilterGoals()) {
      add("Memory of filters, " + goal.name, "bytes", Memory(PlanTree(keys, goal)));
    }
    for (const FilterGoal& goal : FilterGoals()) {
      add("Wasted reads per lookup, " + goal.name, "", WastedReads(PlanTree(keys, goal)));
    }
  }

  const Effort& effort_;
  Progress& progress_;
  Results& results_;
  FilterResult largest_ribbon_;
  double probed_ = 0;
  double false_negatives_ = 0;
  double memory_off_ = 0;  // of the trees, at most
  double wasted_reads_off_ = 0;
};

}  // namespace
}  // namespace blocksieve::bench::scale

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunJob("scale", scale::kManual, argc, argv, [](Job& job) {
    const scale::Effort effort = job.options.quick ? scale::Effort::Quick() : scale::Effort{};
    scale::Experiment(effort, job).Run();
  });
}
