#include "bench/skip/json_report.h"

#include <nlohmann/json.hpp>

#include "bench/skip/report.h"
#include "bench/skip/targets.h"
#include "bench/support/json_array.h"
#include "bench/support/json_file.h"
#include "bench/support/rocksdb_version.h"
#include "blocksieve/granule_index_builder.h"
#include "blocksieve/kernels.h"

namespace blocksieve::bench::skip {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const ScanResult& scan) {
  return {
      {"dataset", scan.dataset},
      {"column", scan.column},
      {"clustered", scan.is_clustered},
      {"rewritten", scan.is_rewritten},
      {"granule_rows", scan.granule_rows},
      {"target_fpr", scan.target_fpr},
      {"queries", scan.queries},
      {"rows", scan.rows},
      {"rows_rechecked", scan.rows_rechecked},
      {"turned_into_full_scans", scan.full_scans},
      {"data_blocks_read", scan.blocks},
      {"oracle_blocks", scan.oracle_blocks},
      {"granule_blocks", scan.granule_blocks},
      {"data_blocks_per_query", scan.blocks_per_query()},
      {"oracle_blocks_per_query", scan.oracle_per_query()},
      {"granule_blocks_per_query", scan.granule_blocks_per_query()},
      {"against_oracle", scan.against_oracle()},
      {"full_scan_blocks", scan.all_blocks},
      {"against_full_scan", scan.against_full_scan()},
      {"seconds", scan.seconds},
      {"full_scan_seconds", scan.full_scan_seconds},
      {"granules", scan.granules},
      {"granules_selected", scan.granules_selected},
      {"granules_matching", scan.granules_matching},
      {"against_target_fpr", scan.is_rewritten ? Json(nullptr) : Json(scan.against_target_fpr())},
  };
}

Json ToJson(const AnalysisResult& analysis) {
  return {
      {"granules", analysis.granules},
      {"distinct_values", analysis.distinct_values},
      {"nanoseconds", analysis.nanoseconds},
      {"separate_nanoseconds", analysis.separate_nanoseconds},
      {"times_faster", analysis.times_faster()},
      {"probe_bytes", analysis.probe_bytes},
      {"separate_bytes", analysis.separate_bytes},
  };
}

Json ToJson(const IndexSizeResult& size) {
  return {
      {"dataset", size.dataset},
      {"column", size.column},
      {"granule_rows", size.granule_rows},
      {"target_fpr", size.target_fpr},
      {"granules", size.granules},
      {"distinct_values", size.distinct_values},
      {"bytes", size.bytes},
      {"filter_bytes", size.filter_bytes},
      {"bounds_bytes", size.bounds_bytes},
      {"key_bytes", size.key_bytes},
      {"bits_per_value", size.bits_per_value()},
  };
}

Json ToJson(const WriteCostResult& write) {
  return {
      {"dataset", write.dataset},
      {"column", write.column},
      {"seconds_with", write.seconds_with},
      {"seconds_without", write.seconds_without},
      {"cpu_seconds_with", write.cpu_seconds_with},
      {"cpu_seconds_without", write.cpu_seconds_without},
      {"times_seconds", write.times_seconds()},
      {"times_cpu_seconds", write.times_cpu_seconds()},
  };
}

template <class T>
Json ToArray(const std::vector<T>& all) {
  return JsonArray(all, [](const T& each) { return ToJson(each); });
}

}  // namespace

std::filesystem::path WriteJson(const Results& results, const std::filesystem::path& dir) {
  const Json document = {
      {"format", 1},
      {"inputs", results.inputs},
      {"rocksdb", DescribeRocksDb()},
      {"kernel", KernelName(ActiveKernel())},
      {"direct_reads", results.direct_reads},
      {"default_granule_rows", kDefaultGranuleRows},
      {"seconds", results.seconds},
      {"targets", JudgeTargets(results).ToJson()},
      {"scans", ToArray(results.scans)},
      {"fpr_scans", ToArray(results.fpr_scans)},
      {"analyses", ToArray(results.analyses)},
      {"index_sizes", ToArray(results.sizes)},
      {"writes", ToArray(results.writes)},
      {"saved", SavedSentence(results)},
  };
  return WriteJsonFile(document, dir, "skip.json");
}

}  // namespace blocksieve::bench::skip
