#include "integration/cli/database/json_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "integration/cli/term/text.h"
#include "integration/cli/term/text_table.h"

namespace blocksieve::cli {

std::string PlainText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& each : value) text += (text.empty() ? "" : " ") + PlainText(each);
  return text;
}

std::string CountText(const Json& value) {
  const auto number = value.get<int64_t>();
  return (number < 0 ? "-" : "") + term::WithCommas(static_cast<uint64_t>(std::abs(number)));
}

std::string FileNameText(const Json& value) {
  const std::string path = value;
  return path.substr(path.rfind('/') + 1);
}

std::string RateText(const Json& value) { return value >= 1 ? "-" : term::NumberText(value, 4); }

std::string ReadsText(const Json& value) { return term::NumberText(value); }

std::string BitsPerKeyText(const Json& value) {
  return value == 0 ? "-" : fmt::format("{:.2f}", value.get<double>());
}

CellText ShareOf(const char* part, const char* whole) {
  return [part, whole](const Json& row) {
    const double share = 100 * term::Ratio(row[part], row[whole]);
    return row[whole] == 0 ? "-" : fmt::format("{:.1f} %", share);
  };
}

bool HasSeveralFamilies(const Json& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Json& row) { return row["family"] != rows.front()["family"]; });
}

std::string TableText(std::vector<TableColumn> columns, const Json& rows, bool with_family) {
  if (with_family) columns.insert(columns.begin(), {"family", "/family", PlainText});
  std::vector<std::string> headers;
  for (const TableColumn& column : columns) headers.push_back(column.header);
  term::TextTable table(headers);
  for (const Json& row : rows) {
    std::vector<std::string> cells;
    for (const TableColumn& column : columns) {
      const Json& value = row.at(Json::json_pointer(column.member));
      cells.push_back(value.is_null() ? "-" : column.text(value));
    }
    table.AddRow(std::move(cells));
  }
  return table.ToString();
}

Json RowsWhere(const Json& rows, const std::function<bool(const Json& row)>& is_shown) {
  Json shown = Json::array();
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(shown), is_shown);
  return shown;
}

}  // namespace blocksieve::cli
