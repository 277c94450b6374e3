// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/rows/rows.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

std::optional<char> ParseByte(std::string_view text) {
  if (text.size() == 1) return text.front();
  if (text == "\\t") return '\t';
  if (text == "\\\\") return '\\';
  if (text.size() != 4 || !text.starts_with("\\x")) return std::nullopt;
  uint8_t byte = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(end - 2, end, byte, 16);
  return error == std::errc() && rest == end ? std::optional(static_cast<char>(byte))
                                             : std::nullopt;
}

}  // namespace

char ParseDelimiter(std::string_view text, std::string_view option) {
  const std::optional<char> delimiter = ParseByte(text);
  if (!delimiter || *delimiter == '\n') {
    term::FailUsage(R"({} is '{}'; allowed: one byte other than the line end, or \t, \\ or \xHH)",
                    option, text);
  }
  return *delimiter;
}

std::string DelimiterName(char delimiter) {
  if (delimiter == '\t') return "TAB";
  const bool is_printable = delimiter > ' ' && delimiter < '\x7f';
  return is_printable ? fmt::format("'{}'", delimiter)
                      : fmt::format("'\\x{:02x}'", static_cast<uint8_t>(delimiter));
}

void SplitLine(std::string_view line, char delimiter, std::vector<std::string_view>* fields) {
  fields->clear();
  for (size_t begin = 0; begin <= line.size(); begin += fields->back().size() + 1) {
    fields->push_back(line.substr(begin, line.find(delimiter, begin) - begin));
  }
}

size_t JoinValue(std::span<const std::string_view> fields, uint32_t key_field, char delimiter,
                 std::string* value) {
  value->clear();
  for (size_t number = 1; number <= fields.size(); ++number) {
    if (number == key_field) continue;
    const std::string_view field = fields[number - 1];
    if (field.find(delimiter) != field.npos) return number;
    if (number != (key_field == 1 ? 2 : 1)) *value += delimiter;
    *value += field;
  }
  return 0;
}

std::vector<Column> ParseColumns(const std::vector<std::string>& definitions, char delimiter) {
  std::vector<Column> columns;
  for (const std::string& definition : definitions) {
    Result<Column> column = Column::Parse(definition, delimiter);
    if (!column.ok()) term::FailUsage("--index: {}", column.status().message());
    if (std::ranges::find(columns, column->name(), &Column::name) != columns.end()) {
      term::FailUsage("--index is {}, but its name is already used; allowed: different names",
                      term::Shorten(definition));
    }
    columns.push_back(*std::move(column));
  }
  return columns;
}

RowReader::RowReader(const RowReaderOptions& options) : options_(options), lines_(options.file) {
  if (!options.skips_header) return;
  if (options.is_csv) {
    ReadRecord();
  } else {
    lines_.Next();
  }
}

bool RowReader::ReadFields() {
  if (options_.is_csv) return ReadRecord();
  const std::optional<std::string_view> line = lines_.Next();
  if (!line) return false;
  if (line->empty()) Fail("the line is empty");
  rows_with_cr_ += line->back() == '\r';
  SplitLine(*line, options_.delimiter, &fields_);
  return true;
}

bool RowReader::ReadRecord() {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  constexpr const char* kInvalid = "invalid CSV (RFC 4180): ";
  enum { kStart, kPlain, kQuoted, kClosed } state = kStart;  // of the last field
  uint64_t quote_line = 0;
  record_.assign(1, "");
  for (;;) {
    if (at_ > line_.size()) {
      const std::optional<std::string_view> line = lines_.Next();
      if (!line && state == kQuoted) {
        term::Fail("{}:{}: {}missing closing quote", lines_.name(), quote_line, kInvalid);
      }
      if (!line) return false;
      line_ = *line;
      at_ = lines_.line_number() == 1 && line_.starts_with(kByteOrderMark) ? kByteOrderMark.size()
                                                                           : 0;
    }
    const char c = at_ == line_.size() ? '\n' : line_[at_];
    ++at_;
    if (state == kQuoted) {
      if (c == '"') {
        state = kClosed;
      } else {
        record_.back() += c;
      }
    } else if (c == options_.delimiter) {
      record_.emplace_back();
      state = kStart;
    } else if (c == '\n' || c == '\r') {
      if (state == kStart && record_.size() == 1) continue;  // an empty line, or CR LF
      fields_.assign(record_.begin(), record_.end());
      return true;
    } else if (c == '"' && state != kPlain) {
      if (state == kStart) quote_line = lines_.line_number();
      if (state == kClosed) record_.back() += c;  // doubled
      state = kQuoted;
    } else if (c == '"' || state == kClosed) {
      Fail(fmt::format("{}byte {} follows a closing quote, or is a quote in an unquoted field",
                       kInvalid, at_));
    } else {
      record_.back() += c;
      state = kPlain;
    }
  }
}

bool RowReader::Next(std::string_view* key, std::string* value) {
  if (!ReadFields()) return false;
  const bool is_csv = options_.is_csv;
  if (fields_.size() < options_.key_field) {
    const std::string separated = ", separated by " + DelimiterName(options_.delimiter);
    Fail(fmt::format("the {} has {}{}; the key is field {} (--key)", is_csv ? "record" : "line",
                     term::CountOf(fields_.size(), "field"), is_csv ? "" : separated,
                     options_.key_field));
  }
  *key = fields_[options_.key_field - 1];
  const size_t field = JoinValue(fields_, options_.key_field, options_.stored_delimiter, value);
  if (field == 0) return true;
  Fail(
      fmt::format("field {} contains {}, the delimiter of the stored value; select another one "
                  "with --store-delimiter",
                  field, DelimiterName(options_.stored_delimiter)));
}

void RowReader::Fail(const std::string& what) const {
  term::Fail("{}:{}: {}", lines_.name(), lines_.line_number(), what);
}

}  // namespace blocksieve::cli
