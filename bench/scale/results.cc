#include "bench/scale/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "bench/scale/model.h"
#include "blocksieve/granule_index_builder.h"

namespace blocksieve::bench::scale {

const FilterResult& Measurements::largest_ribbon() const {
  return *std::max_element(filters.begin(), filters.end(), [](const auto& a, const auto& b) {
    const auto rank = [](const FilterResult& filter) {
      return filter.kind == FilterKind::kRibbon ? filter.keys : 0;
    };
    return rank(a) < rank(b);
  });
}

namespace {

void AddFilter(const FilterResult& filter, Results& results) {
  const auto turns = [](const auto& array) {
    return std::vector<double>(array.begin(), array.end());
  };
  results.Of(std::string(FilterKindName(filter.kind)), {{"keys", filter.keys}})
      .Add("size", "bytes", static_cast<double>(filter.bytes))
      .Add("bits per key", "bits", filter.bits_per_key())
      .Add("FPR", "share", filter.fpr)
      .Add("FPR of target", "x", filter.fpr / filter.target_fpr)
      .AddTurns("build, a key", "ns", turns(filter.build_ns_per_key))
      .AddTurns("absent key", "ns", turns(filter.absent_ns))
      .Add("peak memory to build", "bytes", static_cast<double>(filter.peak_build_bytes))
      .Add("keys denied", "count", static_cast<double>(filter.false_negatives));
}

// How far a tree that was built is off what is computed for it, as a part of that.
struct OffFormula {
  double memory = 0;
  double wasted_reads = 0;
};

OffFormula AddTree(const TreeResult& tree, const Constants& constants, Results& results) {
  const ComputedScale computed = Compute(tree.keys, constants);
  const auto filters = std::find_if(computed.filters.begin(), computed.filters.end(),
                                    [&](const auto& each) { return each.asked == tree.asked; });
  const auto bytes = static_cast<double>(tree.memory_bytes);
  const OffFormula off{bytes / filters->memory_bytes - 1,
                       tree.wasted_reads / filters->wasted_reads - 1};
  results.Of(tree.asked, {{"keys", tree.keys}, {"from", "built"}})
      .Add("files", "count", static_cast<double>(tree.files))
      .Add("memory", "bytes", bytes)
      .Add("bits per key", "bits", 8 * bytes / static_cast<double>(tree.keys))
      .Add("off M(N)", "share", off.memory)
      .Add("wasted reads", "", tree.wasted_reads)
      .Add("off W(N)", "share", off.wasted_reads)
      .Add("keys denied", "count", static_cast<double>(tree.false_negatives));
  return off;
}

void AddAnalysis(const AnalysisResult& analysis, Results& results) {
  Spread per_file = SpreadOf(analysis.seconds);
  for (double* const each : {&per_file.median, &per_file.low, &per_file.high}) {
    *each /= static_cast<double>(analysis.files);
  }
  results.Of("measured", {{"files", analysis.files}, {"rows", analysis.rows}})
      .Add("granules", "count", static_cast<double>(analysis.granules))
      .Add("size of indexes", "bytes", static_cast<double>(analysis.bytes))
      .AddTurns("time", "s", analysis.seconds)
      .Add("time per file", "s", per_file);
}

// Lines of plots: those beyond what was measured begin at its end.
void AddComputed(const ComputedScale& computed, const char* from, Results& results) {
  for (const ComputedFilters& filters : computed.filters) {
    results.Of(filters.asked, {{"keys", computed.keys}, {"from", from}})
        .Add("memory", "bytes", filters.memory_bytes)
        .Add("wasted reads", "", filters.wasted_reads);
  }
}

void AddDecade(const ComputedScale& computed, Results& results) {
  const int power = static_cast<int>(std::lround(std::log10(static_cast<double>(computed.keys))));
  const auto add = [&](const std::string& what, const char* unit, double value) {
    results.Of(what, {{"decade", fmt::format("10^{} keys", power)}}).Add("computed", unit, value);
  };
  add("Levels", "count", static_cast<double>(computed.levels));
  for (const ComputedFilters& each : computed.filters) {
    add("Memory of filters, " + each.asked, "bytes", each.memory_bytes);
  }
  for (const ComputedFilters& each : computed.filters) {
    add("Wasted reads per lookup, " + each.asked, "", each.wasted_reads);
  }
  add("Memory of the skip index", "bytes", computed.index_bytes);
  add("Index analysis for one value", "s", computed.analysis_seconds);
}

void AddAllComputed(const Measurements& measured, const Constants& constants, Results& results) {
  const uint64_t largest_tree =
      std::max_element(measured.trees.begin(), measured.trees.end(),
                       [](const auto& a, const auto& b) { return a.keys < b.keys; })
          ->keys;
  results.SetFact("largest_tree", largest_tree);
  for (const uint64_t keys : ComputedKeys()) {
    const ComputedScale computed = Compute(keys, constants);
    if (keys >= largest_tree) AddComputed(computed, "extrapolated", results);
    if (keys <= largest_tree) AddComputed(computed, "computed", results);
    const bool is_measured = keys <= measured.largest_analysis().rows;
    results.Of(is_measured ? "computed" : "extrapolated", {{"rows", keys}})
        .Add("time", "s", computed.analysis_seconds);
  }
  for (int power = 6; power <= 12; ++power) {
    AddDecade(Compute(static_cast<uint64_t>(std::llround(std::pow(10.0, power))), constants),
              results);
  }
}

void SetConstants(const Measurements& measured, const Constants& constants, Results& results) {
  results.SetFact("g", constants.block_bytes);
  results.SetFact("f", constants.fpr);
  results.SetFact("v", constants.index_bytes);
  results.SetFact("size_ratio", kSizeRatio);
  results.SetFact("granule_rows", kDefaultGranuleRows);
  results.SetFact("probes", measured.largest_ribbon().probes);
  results.SetFact("indexes", measured.largest_analysis().files);
  results.Of("constants").Add("t", "s", constants.seconds_per_file);
}

}  // namespace

Results ToResults(const Measurements& measured) {
  const Constants constants = ConstantsOf(measured);
  Results results("scale");
  results.SetFact("seconds", measured.seconds);
  SetConstants(measured, constants, results);
  AddAllComputed(measured, constants, results);
  double asked = 0;
  double denied = 0;
  OffFormula most;
  for (const FilterResult& filter : measured.filters) {
    AddFilter(filter, results);
    asked += static_cast<double>(filter.keys);
    denied += static_cast<double>(filter.false_negatives);
  }
  for (const TreeResult& tree : measured.trees) {
    const OffFormula off = AddTree(tree, constants, results);
    most.memory = std::max(most.memory, std::abs(off.memory));
    most.wasted_reads = std::max(most.wasted_reads, std::abs(off.wasted_reads));
    asked += static_cast<double>(tree.keys);
    denied += static_cast<double>(tree.false_negatives);
  }
  for (const AnalysisResult& analysis : measured.analyses) AddAnalysis(analysis, results);
  results.Of("all")
      .Add("keys asked for", "count", asked)
      .Add("keys denied by all", "count", denied)
      .Add("keys of the largest filter", "count",
           static_cast<double>(measured.largest_ribbon().keys))
      .Add("memory off the formula, at most", "share", most.memory)
      .Add("wasted reads off the formula, at most", "share", most.wasted_reads);
  return results;
}

}  // namespace blocksieve::bench::scale
