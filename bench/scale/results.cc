#include "bench/scale/results.h"

#include <algorithm>

#include "bench/scale/model.h"
#include "bench/support/json_file.h"
#include "blocksieve/granule_index_builder.h"
#include "blocksieve/kernels.h"

namespace blocksieve::bench::scale {

const FilterResult& Results::largest_ribbon() const {
  return *std::max_element(filters.begin(), filters.end(), [](const auto& a, const auto& b) {
    const auto rank = [](const FilterResult& filter) {
      return filter.kind == FilterKind::kRibbon ? filter.keys : 0;
    };
    return rank(a) < rank(b);
  });
}

// Called by nlohmann-json, which finds them in the namespace of their arguments only.

static void to_json(Json& json, const FilterResult& filter) {
  json = {
      {"kind", FilterKindName(filter.kind)},
      {"keys", filter.keys},
      {"target_fpr", filter.target_fpr},
      {"table_fpr", filter.table_fpr},
      {"table_bytes", filter.table_bytes},
      {"bytes", filter.bytes},
      {"bits_per_key", filter.bits_per_key()},
      {"peak_build_bytes", filter.peak_build_bytes},
      {"build_ns_per_key", filter.build_ns_per_key},
      {"absent_ns", filter.absent_ns},
      {"probes", filter.probes},
      {"fpr", filter.fpr},
      {"false_negatives", filter.false_negatives},
  };
}

static void to_json(Json& json, const TreeResult& tree) {
  json = {
      {"asked", tree.asked},
      {"keys", tree.keys},
      {"files", tree.files},
      {"memory_bytes", tree.bytes},
      {"lookups", tree.lookups},
      {"wasted_reads", tree.wasted_reads},
      {"false_negatives", tree.false_negatives},
  };
}

static void to_json(Json& json, const AnalysisResult& analysis) {
  json = {
      {"files", analysis.files}, {"granules", analysis.granules}, {"rows", analysis.rows},
      {"bytes", analysis.bytes}, {"seconds", analysis.seconds},
  };
}

static void to_json(Json& json, const Constants& constants) {
  json = {
      {"block_bytes_over_table", constants.block_bytes},
      {"fpr_over_table", constants.fpr},
      {"analysis_seconds_per_file", constants.seconds_per_file},
      {"index_bytes_per_row", constants.index_bytes},
      {"keys_per_file", kKeysPerFile},
      {"size_ratio", kSizeRatio},
      {"granule_rows", kDefaultGranuleRows},
  };
}

static void to_json(Json& json, const ComputedScale& computed) {
  Json filters = Json::object();
  for (const ComputedFilters& each : computed.filters) {
    filters[each.asked] = {{"memory_bytes", each.memory_bytes},
                           {"wasted_reads", each.wasted_reads}};
  }
  json = {
      {"keys", computed.keys},
      {"levels", computed.levels},
      {"filters", filters},
      {"index_bytes", computed.index_bytes},
      {"analysis_seconds", computed.analysis_seconds},
  };
}

void WriteJson(const Results& results, const std::filesystem::path& dir) {
  const Constants constants = ConstantsOf(results);
  Json computed = Json::array();
  for (const uint64_t keys : ComputedKeys()) computed.push_back(Compute(keys, constants));
  const Json document = {
      {"format", 1},
      {"kernel", KernelName(ActiveKernel())},
      {"quick", results.is_quick},
      {"seconds", results.seconds},
      {"filters", results.filters},
      {"trees", results.trees},
      {"analyses", results.analyses},
      {"constants", constants},
      {"computed", computed},
  };
  WriteJsonFile(document, dir, "scale.json");
}

}  // namespace blocksieve::bench::scale
