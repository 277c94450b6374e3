#include "bench/scale/model.h"

#include <cmath>

#include "bench/scale/tree_model.h"

namespace blocksieve::bench::scale {

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
