// SPDX-License-Identifier: Apache-2.0
#include "bench/support/results.h"

#include <algorithm>
#include <fstream>
#include <system_error>

namespace blocksieve::bench {

Line& Line::Add(const std::string& column, const std::string& unit, const Figure& figure,
                const Target& target) {
  const Spread& spread = figure.spread;
  Json cell = {{"column", column}, {"unit", unit}, {"value", spread.median}};
  if (spread.turns > 0) cell["turns"] = spread.turns;
  if (spread.turns > 1) cell["spread"] = {spread.low, spread.high};
  if (target.at_most) cell["at_most"] = *target.at_most;
  if (target.at_least) cell["at_least"] = *target.at_least;
  cells.push_back(std::move(cell));
  return *this;
}

Line& Table::operator[](const std::string& name) {
  const auto line = std::ranges::find(lines, name, &Line::name);
  return line != lines.end() ? *line : lines.emplace_back(Line{name});
}

Table& Results::In(const std::string& caption, std::string head, std::string note) {
  const auto table = std::ranges::find(tables_, caption, &Table::caption);
  if (table != tables_.end()) return *table;
  return tables_.emplace_back(Table{caption, std::move(head), std::move(note)});
}

std::string Results::Text(double seconds) const {
  Json tables = Json::array();
  for (const Table& table : tables_) {
    Json lines = Json::array();
    for (const Line& line : table.lines)
      lines.push_back({{"name", line.name}, {"cells", line.cells}});
    tables.push_back({{"caption", table.caption},
                      {"head", table.head},
                      {"note", table.note},
                      {"lines", std::move(lines)}});
  }
  const Json json = {{"benchmark", benchmark_}, {"machine", DescribeMachine()},
                     {"title", title},          {"lead", lead},
                     {"headline", headline},    {"has_limits", has_limits},
                     {"seconds", seconds},      {"tables", tables}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void Results::Write(const std::filesystem::path& dir, double seconds) const {
  std::filesystem::create_directories(dir);
  const std::filesystem::path path = dir / (benchmark_ + ".json");
  const std::filesystem::path unfinished = path.string() + ".tmp";
  std::ofstream file(unfinished);
  file << Text(seconds);
  file.close();
  if (!file) Fail("cannot write {}", path.string());
  std::filesystem::rename(unfinished, path);
}

}  // namespace blocksieve::bench
