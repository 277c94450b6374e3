#include "bench/toylsm/results.h"

#include "bench/support/json_file.h"
#include "blocksieve/kernels.h"

namespace blocksieve::bench::toy {

// Called by nlohmann-json, which finds them in the namespace of their arguments only.

static void to_json(Json& json, const LookupCounts& counts) {
  json = {
      {"lookups", counts.lookups},
      {"data_blocks_from_disk", counts.data_blocks_disk},
      {"data_blocks_from_cache", counts.data_blocks_cache},
      {"filter_blocks_from_disk", counts.filter_blocks_disk},
      {"filter_blocks_from_cache", counts.filter_blocks_cache},
      {"bytes_from_disk", counts.bytes_disk},
      {"bytes_from_cache", counts.bytes_cache},
      {"filter_negatives", counts.filter_negatives},
      {"false_positives", counts.false_positives},
      {"true_positives", counts.true_positives},
      {"data_blocks_per_lookup", counts.PerLookup(counts.data_blocks())},
      {"filter_blocks_per_lookup", counts.PerLookup(counts.filter_blocks())},
      {"bytes_from_disk_per_lookup", counts.PerLookup(counts.bytes_disk)},
      {"bytes_from_cache_per_lookup", counts.PerLookup(counts.bytes_cache)},
  };
}

static void to_json(Json& json, const LookupResult& result) {
  const bool has_filters = result.target_fpr > 0;
  json = {
      {"filters", result.filters},
      {"target_fpr", has_filters ? Json(result.target_fpr) : Json(nullptr)},
      {"per_granule", result.is_granular},
      {"runs", result.runs},
      {"filter_bytes", result.filter_bytes},
      {"filter_memory_bytes", result.filter_memory_bytes},
      {"block_index_bytes", result.block_index_bytes},
      {"resident_filter_bytes", result.resident_filter_bytes},
      {"resident_share", has_filters ? Json(result.resident_share()) : Json(nullptr)},
      {"against_target_fpr", has_filters ? Json(result.against_target_fpr()) : Json(nullptr)},
      {"absent", result.absent},
      {"present", result.present},
  };
}

static void to_json(Json& json, const ScanResult& scan) {
  json = {
      {"column", scan.column},
      {"state", scan.state},
      {"runs", scan.runs},
      {"queries", scan.queries},
      {"rows", scan.rows},
      {"data_blocks_read", scan.blocks},
      {"oracle_blocks", scan.oracle_blocks},
      {"data_blocks_per_query", scan.blocks_per_query()},
      {"oracle_blocks_per_query", scan.oracle_per_query()},
      {"against_oracle", scan.against_oracle()},
      {"full_scan_blocks", scan.all_blocks},
      {"value_index_bytes", scan.value_index_bytes},
  };
}

void WriteJson(const Results& results, const std::filesystem::path& dir) {
  const Json document = {
      {"format", 1},
      {"input", results.input},
      {"rows", results.num_rows},
      {"row_bytes", results.row_bytes},
      {"cache_bytes", results.cache_bytes},
      {"kernel", KernelName(ActiveKernel())},
      {"seconds", results.seconds},
      {"lookups", results.lookups},
      {"scans", results.scans},
  };
  WriteJsonFile(document, dir, "toylsm.json");
}

}  // namespace blocksieve::bench::toy
