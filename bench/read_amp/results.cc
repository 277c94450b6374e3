#include "bench/read_amp/results.h"

#include "bench/support/json_file.h"
#include "bench/support/rocksdb_tree.h"
#include "blocksieve/kernels.h"

namespace blocksieve::bench::read_amp {

// What a contestant stands for, by which section.py finds it.
NLOHMANN_JSON_SERIALIZE_ENUM(Role, {{Role::kNoFilter, "no_filter"},
                                    {Role::kStockDefault, "stock_default"},
                                    {Role::kStockBloomSameFpr, "stock_bloom"},
                                    {Role::kStockRibbonSameFpr, "stock_ribbon"},
                                    {Role::kBlocksieve, "blocksieve"},
                                    {Role::kBlocksieveSameMemory, "same_memory"}})

namespace {

Json ToJson(const LookupResult& result) {
  const Counters& counters = result.counters;
  const auto per_lookup = [&](uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(counters.lookups);
  };
  return {
      {"lookups", counters.lookups},
      {"found", counters.found},
      {"data_blocks_per_lookup", per_lookup(counters.data_blocks())},
      {"data_blocks_read_per_lookup", per_lookup(counters.data_blocks_read)},
      {"wasted_data_blocks_per_lookup", per_lookup(counters.wasted_data_blocks())},
      {"bytes_read_per_lookup", per_lookup(counters.data_bytes_read)},
      {"filter_negatives", counters.filter_negatives},
      {"filter_positives", counters.filter_positives},
      {"filter_true_positives", counters.filter_true_positives},
      {"measured_fpr", counters.absent_probes() > 0 ? Json(counters.fpr()) : Json(nullptr)},
      {"lookups_per_second", result.lookups_per_second},
  };
}

Json ToJson(const TreeResult& tree, uint64_t num_rows) {
  Json levels = Json::array();
  for (const LevelShape& level : tree.shape.levels) {
    levels.push_back(
        {{"level", level.level}, {"files", level.num_files}, {"rows", level.num_entries}});
  }
  return {
      {"levels", levels},
      {"data_bytes", tree.shape.data_bytes},
      {"filter_bytes", tree.shape.filter_bytes},
      {"filter_bits_per_key",
       8 * static_cast<double>(tree.shape.filter_bytes) / static_cast<double>(num_rows)},
      {"measured_fpr", tree.warm_absent.counters.absent_probes() > 0
                           ? Json(tree.warm_absent.counters.fpr())
                           : Json(nullptr)},
      {"cold", {{"absent", ToJson(tree.cold_absent)}, {"present", ToJson(tree.cold_present)}}},
      {"warm", {{"absent", ToJson(tree.warm_absent)}, {"present", ToJson(tree.warm_present)}}},
  };
}

}  // namespace

void WriteJson(const Results& results, const std::filesystem::path& dir) {
  Json contestants = Json::array();
  for (const ContestantResult& each : results.contestants) {
    contestants.push_back({
        {"name", each.contestant.name},
        {"role", each.contestant.role},
        {"filter_policy", each.contestant.policy},
        {"fill_seconds", each.fill_seconds},
        {"compaction_seconds", each.compaction_seconds},
        {"leveled", ToJson(each.leveled, results.num_rows)},
        {"compacted", ToJson(each.compacted, results.num_rows)},
    });
  }
  const Json document = {
      {"format", 1},
      {"input", results.input},
      {"rows", results.num_rows},
      {"target_fpr", results.target_fpr},
      {"rocksdb", DescribeRocksDb()},
      {"kernel", KernelName(ActiveKernel())},
      {"direct_reads", results.direct_reads},
      {"rounds", results.rounds},
      {"seconds", results.seconds},
      {"contestants", contestants},
  };
  WriteJsonFile(document, dir, "results.json");
}

}  // namespace blocksieve::bench::read_amp
