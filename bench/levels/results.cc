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

static void to_json(Json& json, const Run& object) { BLOCKSIEVE_PUT(level, keys, filter_bytes) }

static void to_json(Json& json, const Measurement& object) {
  BLOCKSIEVE_PUT(bits_per_key(), wasted_reads(), optimum(), lookups, wasted_data_blocks, runs)
}

static void to_json(Json& json, const Point& object) {
  BLOCKSIEVE_PUT(asked_bits, policy, measured)
}

static void to_json(Json& json, const Curve& object) { BLOCKSIEVE_PUT(name, points) }

static void to_json(Json& json, const TreeResults& object) {
  BLOCKSIEVE_PUT(name, size_ratio, dynamic_levels, contestants, flushes_after_reopening,
                 after_reopening, asked_for_reads)
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
