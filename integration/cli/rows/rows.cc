// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/rows/rows.h"

#include <csv.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <deque>
#include <new>
#include <optional>
#include <utility>

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

using Fields = std::vector<std::string>;

[[noreturn]] void FailAt(const term::LineReader& lines, uint64_t line, const std::string& what) {
  term::Fail("{}:{}: {}", lines.name(), line, what);
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

/// Quoted fields may have the delimiter, doubled quotes and line ends. Lines end with CR LF, LF or
/// CR. Empty lines and a byte order mark are skipped. Anything outside RFC 4180 is a Failure.
class RowReader::CsvRecords {
 public:
  CsvRecords(term::LineReader* lines, char delimiter) : lines_(lines) {
    if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
    csv_set_delim(&parser_, static_cast<unsigned char>(delimiter));
    // Blanks belong to fields.
    csv_set_space_func(&parser_, [](unsigned char) { return 0; });
  }
  ~CsvRecords() { csv_free(&parser_); }
  CsvRecords(const CsvRecords&) = delete;
  CsvRecords& operator=(const CsvRecords&) = delete;

  std::optional<Fields> Next() {
    while (records_.empty()) {
      const std::optional<std::string_view> line = lines_->Next();
      if (line) {
        ParseLine(std::string(lines_->line_number() == 1 ? WithoutMark(*line) : *line) + '\n');
        continue;
      }
      if (csv_fini(&parser_, &CsvRecords::AddField, &CsvRecords::EndRecord, this) != 0) {
        FailAt(*lines_, quote_line_, "invalid CSV (RFC 4180): missing closing quote");
      }
      if (records_.empty()) return std::nullopt;
    }
    Fields fields = std::move(records_.front());
    records_.pop_front();
    return fields;
  }

 private:
  void ParseLine(std::string line) {
    if (!is_open_) quote_line_ = lines_->line_number();
    const size_t parsed = csv_parse(&parser_, line.data(), line.size(), &CsvRecords::AddField,
                                    &CsvRecords::EndRecord, this);
    is_open_ = records_.empty() && (is_open_ || line.size() > 1);
    if (parsed == line.size()) return;
    FailAt(
        *lines_, lines_->line_number(),
        fmt::format("invalid CSV (RFC 4180): byte {} follows a closing quote, or is a quote in an "
                    "unquoted field",
                    parsed + 1));
  }

  // libcsv calls back for each field and record.
  static void AddField(void* bytes, size_t size, void* self) {
    auto* const csv = static_cast<CsvRecords*>(self);
    csv->open_.emplace_back(static_cast<const char*>(bytes), size);
    csv->quote_line_ = csv->lines_->line_number();  // the next field begins where this one ended
  }
  static void EndRecord(int, void* self) {
    auto* const csv = static_cast<CsvRecords*>(self);
    csv->records_.push_back(std::exchange(csv->open_, {}));
  }

  static std::string_view WithoutMark(std::string_view line) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    return line.starts_with(kByteOrderMark) ? line.substr(kByteOrderMark.size()) : line;
  }

  term::LineReader* const lines_;
  csv_parser parser_{};
  Fields open_;
  std::deque<Fields> records_;
  bool is_open_ = false;     // within a record
  uint64_t quote_line_ = 0;  // where an open quote may have begun
};

RowReader::RowReader(const RowReaderOptions& options) : options_(options), lines_(options.file) {
  if (options.is_csv) csv_ = std::make_unique<CsvRecords>(&lines_, options.delimiter);
  if (!options.skips_header) return;
  if (csv_ != nullptr) {
    csv_->Next();
  } else {
    lines_.Next();
  }
}

RowReader::~RowReader() = default;

bool RowReader::ReadFields() {
  if (csv_ != nullptr) {
    record_ = csv_->Next().value_or(Fields());
    fields_.assign(record_.begin(), record_.end());
    return !fields_.empty();
  }
  const std::optional<std::string_view> line = lines_.Next();
  if (!line) return false;
  if (line->empty()) Fail("the line is empty");
  rows_with_cr_ += line->back() == '\r';
  SplitLine(*line, options_.delimiter, &fields_);
  return true;
}

bool RowReader::Next(std::string_view* key, std::string* value) {
  if (!ReadFields()) return false;
  const bool is_csv = csv_ != nullptr;
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

void RowReader::Fail(const std::string& what) const { FailAt(lines_, lines_.line_number(), what); }

}  // namespace blocksieve::cli
