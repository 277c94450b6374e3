#include "bench/toylsm/results.h"

#include "bench/support/json_file.h"
#include "blocksieve/kernels.h"

namespace blocksieve::bench::toy {

static void to_json(Json& json, const LookupCounts& object) {
  BLOCKSIEVE_PUT(lookups, data_blocks_from_disk, data_blocks_from_cache, filter_blocks_from_disk,
                 filter_blocks_from_cache, bytes_from_disk, bytes_from_cache, filter_negatives,
                 false_positives, true_positives, data_blocks_per_lookup(),
                 filter_blocks_per_lookup(), bytes_from_disk_per_lookup(),
                 bytes_from_cache_per_lookup())
}

static void to_json(Json& json, const LookupResult& object) {
  BLOCKSIEVE_PUT(filters, target_fpr, per_granule, runs, filter_bytes, filter_memory_bytes,
                 block_index_bytes, resident_filter_bytes, resident_share(), against_target_fpr(),
                 absent, present)
  if (object.target_fpr > 0) return;
  for (const char* of_filters : {"target_fpr", "resident_share", "against_target_fpr"})
    json[of_filters] = nullptr;
}

static void to_json(Json& json, const ScanResult& object) {
  BLOCKSIEVE_PUT(column, state, runs, queries, rows, data_blocks_read, oracle_blocks,
                 data_blocks_per_query(), oracle_blocks_per_query(), against_oracle(),
                 full_scan_blocks, skip_index_bytes)
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
