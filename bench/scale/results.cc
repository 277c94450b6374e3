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

static void to_json(Json& json, const FilterResult& object) {
  json["kind"] = FilterKindName(object.kind);
  BLOCKSIEVE_PUT(keys, target_fpr, table_fpr, table_bytes, bytes, bits_per_key(), peak_build_bytes,
                 build_ns_per_key, absent_ns, probes, fpr, false_negatives)
}

static void to_json(Json& json, const TreeResult& object) {
  BLOCKSIEVE_PUT(asked, keys, files, memory_bytes, lookups, wasted_reads, false_negatives)
}

static void to_json(Json& json, const AnalysisResult& object) {
  BLOCKSIEVE_PUT(files, granules, rows, bytes, seconds)
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
