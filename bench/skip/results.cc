#include "bench/skip/results.h"

#include "bench/support/json_file.h"
#include "bench/support/rocksdb_tree.h"
#include "blocksieve/granule_index_builder.h"
#include "blocksieve/kernels.h"

namespace blocksieve::bench::skip {

// Called by nlohmann-json, which finds them in the namespace of their arguments only.

static void to_json(Json& json, const ScanResult& scan) {
  json = {
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

static void to_json(Json& json, const InListResult& result) {
  json = {
      {"values", result.values},
      {"nanoseconds", result.nanoseconds},
      {"one_by_one_nanoseconds", result.one_by_one_nanoseconds},
  };
}

static void to_json(Json& json, const AnalysisResult& analysis) {
  json = {
      {"granules", analysis.granules},
      {"distinct_values", analysis.distinct_values},
      {"nanoseconds", analysis.nanoseconds},
      {"separate_nanoseconds", analysis.separate_nanoseconds},
      {"times_faster", analysis.times_faster()},
      {"probe_bytes", analysis.probe_bytes},
      {"separate_bytes", analysis.separate_bytes},
      {"build_seconds", analysis.build_seconds},
      {"open_seconds", analysis.open_seconds},
      {"in_lists", analysis.in_lists},
  };
}

static void to_json(Json& json, const IndexSizeResult& size) {
  json = {
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

static void to_json(Json& json, const WriteCostResult& write) {
  json = {
      {"dataset", write.dataset},
      {"column", write.column},
      {"seconds_with", write.seconds_with},
      {"seconds_without", write.seconds_without},
      {"cpu_seconds_with", write.cpu_seconds_with},
      {"cpu_seconds_without", write.cpu_seconds_without},
  };
}

void WriteJson(const Results& results, const std::filesystem::path& dir) {
  const Json document = {
      {"format", 1},
      {"inputs", results.inputs},
      {"rocksdb", DescribeRocksDb()},
      {"kernel", KernelName(ActiveKernel())},
      {"direct_reads", results.direct_reads},
      {"default_granule_rows", kDefaultGranuleRows},
      {"seconds", results.seconds},
      {"scans", results.scans},
      {"fpr_scans", results.fpr_scans},
      {"analyses", results.analyses},
      {"index_sizes", results.sizes},
      {"writes", results.writes},
  };
  WriteJsonFile(document, dir, "skip.json");
}

}  // namespace blocksieve::bench::skip
