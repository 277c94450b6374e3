#include "bench/levels/json_report.h"

#include <nlohmann/json.hpp>

#include "bench/levels/report.h"
#include "bench/support/json_file.h"
#include "bench/support/rocksdb_version.h"

namespace blocksieve::bench::levels {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const Measurement& measured) {
  Json runs = Json::array();
  for (const Run& run : measured.runs) {
    runs.push_back({{"level", run.level}, {"keys", run.keys}, {"filter_bytes", run.filter_bytes}});
  }
  return {
      {"bits_per_key", measured.bits_per_key()},
      {"wasted_reads", measured.wasted_reads()},
      {"optimum", measured.optimum()},
      {"lookups", measured.lookups},
      {"wasted_data_blocks", measured.wasted_data_blocks},
      {"runs", runs},
  };
}

Json ToJson(const Point& point) {
  return {{"policy", point.policy}, {"measured", ToJson(point.measured)}};
}

Json ToJson(const TreeResults& tree) {
  Json contestants = Json::array();
  for (const Curve& curve : tree.curves) {
    Json points = Json::array();
    for (const Point& point : curve.points) points.push_back(ToJson(point));
    contestants.push_back({{"name", curve.name}, {"points", points}});
  }
  return {
      {"name", tree.name},
      {"size_ratio", tree.size_ratio},
      {"dynamic_levels", tree.has_dynamic_levels},
      {"contestants", contestants},
      {"flushes_after_reopening", tree.flushes_after_reopening},
      {"after_reopening", ToJson(tree.after_reopening)},
      {"asked_for_reads", ToJson(tree.asked_for_reads)},
  };
}

}  // namespace

std::filesystem::path WriteJson(const Results& results, const std::filesystem::path& dir) {
  Json trees = Json::array();
  for (const TreeResults& tree : results.trees) trees.push_back(ToJson(tree));
  const Json document = {
      {"format", 1},
      {"rocksdb", DescribeRocksDb()},
      {"keys", results.keys},
      {"lookups", results.lookups},
      {"seconds", results.seconds},
      {"targets", JudgeTargets(results).ToJson()},
      {"trees", trees},
  };
  return WriteJsonFile(document, dir, "levels.json");
}

}  // namespace blocksieve::bench::levels
