#include "bench/skip/results.h"

#include "bench/support/json_file.h"
#include "bench/support/rocksdb_tree.h"
#include "blocksieve/granule_index_builder.h"
#include "blocksieve/kernels.h"

namespace blocksieve::bench::skip {

static void to_json(Json& json, const ScanResult& object) {
  BLOCKSIEVE_PUT(dataset, column, clustered, rewritten, granule_rows, target_fpr, queries, rows,
                 rows_rechecked, turned_into_full_scans, data_blocks_read, oracle_blocks,
                 granule_blocks, data_blocks_per_query(), oracle_blocks_per_query(),
                 granule_blocks_per_query(), against_oracle(), full_scan_blocks,
                 against_full_scan(), query_seconds, full_scan_seconds, granules, granules_selected,
                 granules_matching)
  json["against_target_fpr"] = object.rewritten ? Json(nullptr) : Json(object.against_target_fpr());
}

static void to_json(Json& json, const InListResult& object) {
  BLOCKSIEVE_PUT(values, nanoseconds, one_by_one_nanoseconds)
}

static void to_json(Json& json, const AnalysisResult& object) {
  BLOCKSIEVE_PUT(granules, distinct_values, nanoseconds, separate_nanoseconds, probe_bytes,
                 separate_bytes, build_seconds, open_seconds, in_lists)
}

static void to_json(Json& json, const IndexSizeResult& object) {
  BLOCKSIEVE_PUT(dataset, column, granule_rows, target_fpr, granules, distinct_values, bytes,
                 filter_bytes, bounds_bytes, key_bytes, bits_per_value())
}

static void to_json(Json& json, const FormTimes& object) {
  BLOCKSIEVE_PUT(question, nanoseconds, slices_nanoseconds)
}

static void to_json(Json& json, const FormResult& object) {
  BLOCKSIEVE_PUT(dataset, column, form, rows, granules, values, pairs, index_bytes,
                 slices_index_bytes, filter_bytes, slices_filter_bytes, build_nanoseconds,
                 slices_build_nanoseconds, false_granules, slices_false_granules,
                 false_granules_of_absent, slices_false_granules_of_absent, times)
}

static void to_json(Json& json, const WriteCostResult& object) {
  BLOCKSIEVE_PUT(dataset, column, seconds_with, seconds_without, cpu_seconds_with,
                 cpu_seconds_without)
}

static void to_json(Json& json, const CarrierResult& object) {
  BLOCKSIEVE_PUT(dataset, carrier, num_ssts, sst_bytes, sidecar_bytes, resident_bytes,
                 tried_sst_bytes, unopenable_bytes, lookup_bytes, lookup_nanoseconds)
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
      {"forms", results.forms},
      {"writes", results.writes},
      {"carriers", results.carriers},
  };
  WriteJsonFile(document, dir, "skip.json");
}

}  // namespace blocksieve::bench::skip
