#include "bench/levels/results.h"

#include "bench/support/json_file.h"
#include "bench/support/rocksdb_tree.h"
#include "bench/support/terminal.h"
#include "blocksieve/rate_allocation.h"

namespace blocksieve::bench::levels {

uint64_t Measurement::keys() const {
  uint64_t sum = 0;
  for (const Run& run : runs) sum += run.keys;
  return sum;
}

uint64_t Measurement::filter_bytes() const {
  uint64_t sum = 0;
  for (const Run& run : runs) sum += run.filter_bytes;
  return sum;
}

double Measurement::bits_per_key() const {
  return 8 * static_cast<double>(filter_bytes()) / static_cast<double>(keys());
}

double Measurement::wasted_reads() const {
  return static_cast<double>(wasted_data_blocks) / static_cast<double>(lookups);
}

double Measurement::optimum() const {
  std::vector<RunGroup> groups;
  for (const Run& run : runs) groups.push_back({.keys_per_run = static_cast<double>(run.keys)});
  const Result<RateAllocation> allocation = AllocateForBitsPerKey(groups, bits_per_key());
  if (!allocation.ok()) Fail("no optimum: {}", allocation.status().message());
  return allocation->wasted_reads;
}

// Called by nlohmann-json, which finds them in the namespace of their arguments only.

static void to_json(Json& json, const Run& run) {
  json = {{"level", run.level}, {"keys", run.keys}, {"filter_bytes", run.filter_bytes}};
}

static void to_json(Json& json, const Measurement& measured) {
  json = {
      {"bits_per_key", measured.bits_per_key()},
      {"wasted_reads", measured.wasted_reads()},
      {"optimum", measured.optimum()},
      {"lookups", measured.lookups},
      {"wasted_data_blocks", measured.wasted_data_blocks},
      {"runs", measured.runs},
  };
}

static void to_json(Json& json, const Point& point) {
  json = {{"asked_bits", point.asked_bits}, {"policy", point.policy}, {"measured", point.measured}};
}

static void to_json(Json& json, const Curve& curve) {
  json = {{"name", curve.name}, {"points", curve.points}};
}

static void to_json(Json& json, const TreeResults& tree) {
  json = {
      {"name", tree.name},
      {"size_ratio", tree.size_ratio},
      {"dynamic_levels", tree.has_dynamic_levels},
      {"contestants", tree.curves},
      {"flushes_after_reopening", tree.flushes_after_reopening},
      {"after_reopening", tree.after_reopening},
      {"asked_for_reads", tree.asked_for_reads},
  };
}

void WriteJson(const Results& results, const std::filesystem::path& dir) {
  const Json document = {
      {"format", 1},
      {"rocksdb", DescribeRocksDb()},
      {"keys", results.keys},
      {"lookups", results.lookups},
      {"seconds", results.seconds},
      {"trees", results.trees},
  };
  WriteJsonFile(document, dir, "levels.json");
}

}  // namespace blocksieve::bench::levels
