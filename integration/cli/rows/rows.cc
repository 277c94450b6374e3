// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/rows/rows.h"

#include <csv.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <deque>
#include <new>
#include <optional>
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

bool SplitRow(std::string_view line, char delimiter, uint32_t key_field, std::string_view* key,
              std::string* value) {
  assert(key_field >= 1);
  size_t begin = 0;
  for (uint32_t field = 1; field < key_field; ++field) {
    const size_t end = line.find(delimiter, begin);
    if (end == line.npos) return false;
    begin = end + 1;
  }
  const size_t end = std::min(line.find(delimiter, begin), line.size());
  *key = line.substr(begin, end - begin);
  // Drops one of the delimiters next to the key.
  if (begin == 0) {
    *value = line.substr(std::min(end + 1, line.size()));
  } else {
    *value = line.substr(0, begin - 1);
    *value += line.substr(end);
  }
  return true;
}

uint64_t CountFields(std::string_view line, char delimiter) {
  return static_cast<uint64_t>(std::count(line.begin(), line.end(), delimiter)) + 1;
}

std::vector<Column> ParseColumns(const std::vector<std::string>& definitions, char delimiter) {
  std::vector<Column> columns;
  for (const std::string& definition : definitions) {
    Result<Column> column = Column::Parse(definition, delimiter);
    if (!column.ok()) term::FailUsage("--index: {}", column.status().message());
    if (std::ranges::find(columns, column->name(), &Column::name) != columns.end()) {
      term::FailUsage("--index is {}, but its name is already used; allowed: different names",
                      term::Shown(definition));
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

bool RowReader::NextLine(std::string_view* key, std::string* value) {
  const std::optional<std::string_view> line = lines_.Next();
  if (!line) return false;
  if (line->empty()) Fail("the line is empty");
  if (!SplitRow(*line, options_.delimiter, options_.key_field, key, value)) {
    Fail(fmt::format("the line has {}, separated by {}; the key is field {} (--key)",
                     term::CountOf(CountFields(*line, options_.delimiter), "field"),
                     DelimiterName(options_.delimiter), options_.key_field));
  }
  rows_with_cr_ += line->back() == '\r';
  return true;
}

bool RowReader::NextRecord(std::string_view* key, std::string* value) {
  std::optional<Fields> fields = csv_->Next();
  if (!fields) return false;
  if (fields->size() < options_.key_field) {
    Fail(fmt::format("the record has {}; the key is field {} (--key)",
                     term::CountOf(fields->size(), "field"), options_.key_field));
  }
  value->clear();
  for (size_t i = 0; i < fields->size(); ++i) {
    if (i + 1 == options_.key_field) continue;
    const std::string& field = (*fields)[i];
    if (field.find(options_.stored_delimiter) != field.npos) {
      Fail(
          fmt::format("field {} contains {}, the delimiter of the stored value; select another one "
                      "with --store-delimiter",
                      i + 1, DelimiterName(options_.stored_delimiter)));
    }
    if (i != (options_.key_field == 1 ? 1 : 0)) *value += options_.stored_delimiter;
    *value += field;
  }
  key_ = std::move((*fields)[options_.key_field - 1]);
  *key = key_;
  return true;
}

void RowReader::Fail(const std::string& what) const { FailAt(lines_, lines_.line_number(), what); }

}  // namespace blocksieve::cli
