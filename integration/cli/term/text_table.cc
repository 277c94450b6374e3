#include "integration/cli/term/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>

namespace blocksieve::term {
namespace {

size_t NumLines(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

}  // namespace

TextTable::TextTable(const std::vector<std::string>& headers, Rule rule) : rule_(rule) {
  assert(!headers.empty());
  for (const std::string& header : headers) {
    num_header_rows_ = std::max(num_header_rows_, NumLines(header));
  }
  rows_.assign(num_header_rows_, std::vector<std::string>(headers.size()));
  for (size_t column = 0; column < headers.size(); ++column) {
    std::string_view rest = headers[column];
    for (size_t row = num_header_rows_ - NumLines(rest); row < num_header_rows_; ++row) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      rows_[row][column] = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

void TextTable::AddRow(std::vector<std::string> cells) {
  assert(cells.size() == rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::ToString() const {
  std::vector<size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (size_t number = 0; number < rows_.size(); ++number) {
    const auto& row = rows_[number];
    std::string line = fmt::format("{:<{}}", row[0], widths[0]);
    for (size_t i = 1; i < row.size(); ++i) line += fmt::format("  {:>{}}", row[i], widths[i]);
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + '\n';
    if (rule_ == Rule::kUnderHeaders && number + 1 == num_header_rows_) {
      text += std::string(line.size(), '-') + '\n';
    }
  }
  return text;
}

}  // namespace blocksieve::term
