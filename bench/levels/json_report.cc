#include "bench/levels/json_report.h"

#include <nlohmann/json.hpp>

#include "bench/levels/report.h"
#include "bench/support/json_file.h"
#include "bench/support/rocksdb_version.h"

namespace blocksieve::bench::levels {

using Json = nlohmann::ordered_json;

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
  json = {{"policy", point.policy}, {"measured", point.measured}};
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

std::filesystem::path WriteJson(const Results& results, const std::filesystem::path& dir) {
  const Json document = {
      {"format", 1},
      {"rocksdb", DescribeRocksDb()},
      {"keys", results.keys},
      {"lookups", results.lookups},
      {"seconds", results.seconds},
      {"targets", JudgeTargets(results).ToJson()},
      {"trees", results.trees},
  };
  return WriteJsonFile(document, dir, "levels.json");
}

}  // namespace blocksieve::bench::levels
