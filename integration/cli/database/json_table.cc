// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/database/json_table.h"

#include <algorithm>
#include <cstdlib>

#include "integration/cli/database/table/table_file.h"
#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

using Cells = std::vector<std::string>;

// The first column is left-aligned, the others right-aligned.
std::string Align(const std::vector<Cells>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const Cells& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Cells& row : rows) {
    std::string line = fmt::format("{:<{}}", row[0], widths[0]);
    for (size_t i = 1; i < row.size(); ++i) line += fmt::format("  {:>{}}", row[i], widths[i]);
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace

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

std::string ShareText(const Json& value) {
  return fmt::format("{:.1f} %", 100 * value.get<double>());
}

CellText FormatShare(const char* part, const char* whole) {
  return [part, whole](const Json& row) {
    return row[whole] == 0 ? "-" : ShareText(Ratio(row[part], row[whole]));
  };
}

std::string TableText(std::vector<TableColumn> columns, const Json& rows, bool with_family) {
  if (with_family) columns.insert(columns.begin(), {"family", "/family", PlainText});
  std::vector<Cells> lines(1);
  for (const TableColumn& column : columns) lines[0].push_back(column.header);
  for (const Json& row : rows) {
    Cells& cells = lines.emplace_back();
    for (const TableColumn& column : columns) {
      const Json& value = row.at(Json::json_pointer(column.member));
      cells.push_back(value.is_null() ? "-" : column.text(value));
    }
  }
  return Align(lines);
}

}  // namespace blocksieve::cli
