#include "bench/ranges/results.h"

#include "bench/support/json_file.h"
#include "bench/support/rocksdb_tree.h"
#include "blocksieve/kernels.h"

namespace blocksieve::bench::ranges {

// By which section.py finds a contestant.
NLOHMANN_JSON_SERIALIZE_ENUM(Role, {{Role::kNoFilter, "no_filter"},
                                    {Role::kPrefixBloom, "prefix_bloom"},
                                    {Role::kPrefixBloomPartitioned, "prefix_bloom_partitioned"},
                                    {Role::kFirstKey, "first_key"},
                                    {Role::kPoints, "points"},
                                    {Role::kPointsPartitioned, "points_partitioned"},
                                    {Role::kRanges, "ranges"},
                                    {Role::kRangesPartitioned, "ranges_partitioned"}})

static void to_json(Json& json, const QuestionResult& object) {
  BLOCKSIEVE_PUT(question, expected_keys, starts, least_with_prefixes)
}

static void to_json(Json& json, const ContestantResult& object) {
  json["name"] = RoleName(object.role);
  BLOCKSIEVE_PUT(role, filter_bytes, refusals, fill_seconds, blocks_per_seek, blocks_per_found,
                 empty_nanoseconds, found_nanoseconds, cold_nanoseconds, cold_blocks_per_seek,
                 hit_nanoseconds, miss_nanoseconds)
}

static void to_json(Json& json, const SetResult& object) {
  BLOCKSIEVE_PUT(set, keys, runs, prefix_bytes, questions, contestants)
}

static void to_json(Json& json, const FilterResult& object) {
  BLOCKSIEVE_PUT(set, keys, range_fpr, absent_reason, bits_per_key, model_bits_per_key,
                 estimated_fpr, rates, probe_nanoseconds, build_nanoseconds, points_nanoseconds)
}

static void to_json(Json& json, const FixedBytesResult& object) {
  BLOCKSIEVE_PUT(set, keys, are_neighbours, bytes, fixed_bytes)
}

static void to_json(Json& json, const WorkloadTimes& object) {
  json["name"] = RoleName(object.role);
  BLOCKSIEVE_PUT(role, blocks_per_operation, nanoseconds, cold_nanoseconds)
}

static void to_json(Json& json, const WorkloadResult& object) {
  BLOCKSIEVE_PUT(workload, description, keys, keys_per_scan, contestants)
}

void WriteJson(const Results& results, const std::filesystem::path& dir) {
  const Json document = {
      {"format", 1},
      {"quick", results.is_quick},
      {"rocksdb", DescribeRocksDb()},
      {"kernel", KernelName(ActiveKernel())},
      {"direct_reads", results.direct_reads},
      {"seconds", results.seconds},
      {"sets", results.sets},
      {"filters", results.filters},
      {"small_filters", results.small_filters},
      {"workloads", results.workloads},
  };
  WriteJsonFile(document, dir, "ranges.json");
}

}  // namespace blocksieve::bench::ranges
