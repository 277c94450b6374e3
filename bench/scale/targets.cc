#include "bench/scale/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/scale/model.h"

namespace blocksieve::bench::scale {
namespace {

double PercentOff(double measured, double computed) {
  return 100 * std::abs(measured / computed - 1);
}

}  // namespace

Targets JudgeTargets(const Results& results) {
  Targets targets;
  uint64_t false_negatives = 0;
  for (const FilterResult& filter : results.filters) false_negatives += filter.false_negatives;
  for (const TreeResult& tree : results.trees) false_negatives += tree.false_negatives;
  targets.AtMost("keys that their filter denies", static_cast<double>(false_negatives), 0);
  targets.AtLeast("keys of the largest filter built",
                  static_cast<double>(results.largest_ribbon().keys), 3e8);
  for (const FilterResult& filter : results.filters) {
    targets.AtMost(fmt::format("measured FPR against target: {}, {:.0e} keys",
                               FilterKindName(filter.kind), static_cast<double>(filter.keys)),
                   filter.fpr / filter.target_fpr, 1.01, " x");
  }

  const Constants constants = ConstantsOf(results);
  double memory = 0;
  double wasted_reads = 0;
  for (const TreeResult& tree : results.trees) {
    const ComputedScale scale = Compute(tree.keys, constants);
    for (const ComputedFilters& computed : scale.filters) {
      if (computed.asked != tree.asked) continue;
      memory = std::max(memory, PercentOff(static_cast<double>(tree.bytes), computed.memory_bytes));
      wasted_reads = std::max(wasted_reads, PercentOff(tree.wasted_reads, computed.wasted_reads));
    }
  }
  targets.AtMost("memory of the built trees, off the formula by at most", memory, 1, " %");
  targets.AtMost("wasted reads of the same, off the formula by at most", wasted_reads, 10, " %");
  return targets;
}

}  // namespace blocksieve::bench::scale
