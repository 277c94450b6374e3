#include "bench/support/results.h"

#include "bench/support/files.h"

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
                                  double value) {
  Append(metric, unit, value);
  return *this;
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
  WriteFile(Text(), dir, (benchmark_ + ".json").c_str());
}

}  // namespace blocksieve::bench
