#include "bench/support/results.h"

#include <fstream>
#include <system_error>

namespace blocksieve::bench {
namespace {

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Json& Results::Rows::Append(const std::string& metric, const std::string& unit, double value) {
  return results_->rows_.emplace_back(Json{{"name", name_},
                                           {"parameters", parameters_},
                                           {"metric", metric},
                                           {"unit", unit},
                                           {"value", value}});
}

Results::Rows& Results::Rows::Add(const std::string& metric, const std::string& unit,
                                  const Spread& spread) {
  Json& row = Append(metric, unit, spread.median);
  row["turns"] = spread.turns;
  if (spread.turns > 1) row["spread"] = {spread.low, spread.high};
  return *this;
}

std::string Results::Text() const {
  std::string text = "{\"benchmark\": " + Dump(benchmark_);
  text += ",\n\"machine\": " + Dump(DescribeMachine()) + ",\n\"facts\": " + Dump(facts_);
  text += ",\n\"rows\": [";
  for (const Json& row : rows_) text += (&row == rows_.data() ? "\n" : ",\n") + Dump(row);
  return text + "\n]}\n";
}

void Results::Write(const std::filesystem::path& dir) const {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  const std::filesystem::path path = dir / (benchmark_ + ".json");
  const std::filesystem::path unfinished = path.string() + ".tmp";
  std::ofstream file(unfinished);
  file << Text();
  file.close();
  if (file) std::filesystem::rename(unfinished, path, error);
  if (!file || error) Fail("cannot write {}", path.string());
}

}  // namespace blocksieve::bench
