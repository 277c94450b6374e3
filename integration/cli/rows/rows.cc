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

class LineRows final : public RowReader {
 public:
  explicit LineRows(const RowReaderOptions& options) : RowReader(options) {
    if (options.skips_header) lines_.Next();
  }

  bool Next(std::string_view* key, std::string* value) override {
    const std::optional<std::string_view> line = lines_.Next();
    if (!line) return false;
    if (line->empty() || !SplitRow(*line, options_.delimiter, options_.key_field, key, value)) {
      term::Fail("{}:{}: {}", lines_.name(), lines_.line_number(), DescribeProblem(*line));
    }
    rows_with_cr_ += line->back() == '\r';
    return true;
  }

 private:
  std::string DescribeProblem(std::string_view line) const {
    if (line.empty()) return "the line is empty";
    return fmt::format("the line has {}, separated by {}; the key is field {} (--key)",
                       term::CountOf(CountFields(line, options_.delimiter), "field"),
                       DelimiterName(options_.delimiter), options_.key_field);
  }
};

using Fields = std::vector<std::string>;

/// Wraps libcsv, which calls back for each field and record.
class CsvParser {
 public:
  explicit CsvParser(char delimiter) {
    if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
    csv_set_delim(&parser_, static_cast<unsigned char>(delimiter));
    // Blanks belong to fields.
    csv_set_space_func(&parser_, [](unsigned char) { return 0; });
  }
  ~CsvParser() { csv_free(&parser_); }
  CsvParser(const CsvParser&) = delete;
  CsvParser& operator=(const CsvParser&) = delete;

  /// Parses a line and its end. Returns the problem, or "".
  std::string Parse(std::string line, uint64_t number) {
    if (!is_open_) quote_line_ = number;
    line_number_ = number;
    const size_t num_records = records_.size();
    line += '\n';
    const size_t parsed = csv_parse(&parser_, line.data(), line.size(), &CsvParser::AddField,
                                    &CsvParser::EndRecord, this);
    is_open_ = records_.size() == num_records && (is_open_ || line.size() > 1);
    return parsed == line.size()
               ? ""
               : fmt::format("byte {} follows a closing quote, or is a quote in an unquoted field",
                             parsed + 1);
  }

  /// At the end of the input: whether a quoted field is open. It opened in quote_line().
  bool Finish() {
    return csv_fini(&parser_, &CsvParser::AddField, &CsvParser::EndRecord, this) != 0;
  }
  uint64_t quote_line() const { return quote_line_; }

  std::deque<Fields>& records() { return records_; }

 private:
  static void AddField(void* bytes, size_t size, void* self) {
    auto* const parser = static_cast<CsvParser*>(self);
    parser->open_.emplace_back(static_cast<const char*>(bytes), size);
    parser->quote_line_ = parser->line_number_;  // the next field begins where this one ended
  }
  static void EndRecord(int, void* self) {
    auto* const parser = static_cast<CsvParser*>(self);
    parser->records_.push_back(std::move(parser->open_));
    parser->open_.clear();
  }

  csv_parser parser_{};
  Fields open_;
  std::deque<Fields> records_;
  bool is_open_ = false;  // within a record
  uint64_t line_number_ = 0;
  uint64_t quote_line_ = 0;
};

/// Quoted fields may have the delimiter, doubled quotes and line ends. Lines end with CR LF, LF or
/// CR. Empty lines and a byte order mark are skipped. Anything outside RFC 4180 is a Failure.
class CsvRows final : public RowReader {
 public:
  explicit CsvRows(const RowReaderOptions& options)
      : RowReader(options), parser_(options.delimiter) {
    if (options.skips_header) NextRecord();
  }

  bool Next(std::string_view* key, std::string* value) override {
    std::optional<Fields> fields = NextRecord();
    if (!fields) return false;
    if (fields->size() < options_.key_field) {
      Fail(fmt::format("the record has {}; the key is field {} (--key)",
                       term::CountOf(fields->size(), "field"), options_.key_field),
           lines_.line_number());
    }
    key_ = std::move((*fields)[options_.key_field - 1]);
    *key = key_;
    value->clear();
    for (size_t i = 0; i < fields->size(); ++i) {
      if (i + 1 == options_.key_field) continue;
      if (i != (options_.key_field == 1 ? 1 : 0)) *value += options_.stored_delimiter;
      AppendField((*fields)[i], i + 1, value);
    }
    return true;
  }

 private:
  void AppendField(const std::string& field, size_t number, std::string* value) const {
    if (field.find(options_.stored_delimiter) != field.npos) {
      Fail(
          fmt::format("field {} contains {}, the delimiter of the stored value; select another one "
                      "with --store-delimiter",
                      number, DelimiterName(options_.stored_delimiter)),
          lines_.line_number());
    }
    *value += field;
  }

  std::optional<Fields> NextRecord() {
    while (parser_.records().empty()) {
      if (is_at_end_) return std::nullopt;
      const std::optional<std::string_view> line = lines_.Next();
      const uint64_t number = lines_.line_number();
      is_at_end_ = !line;
      if (is_at_end_ && parser_.Finish()) {
        Fail("invalid CSV (RFC 4180): missing closing quote", parser_.quote_line());
      }
      if (is_at_end_) continue;
      const std::string problem =
          parser_.Parse(std::string(number == 1 ? WithoutMark(*line) : *line), number);
      if (!problem.empty()) Fail("invalid CSV (RFC 4180): " + problem, number);
    }
    Fields fields = std::move(parser_.records().front());
    parser_.records().pop_front();
    return fields;
  }

  static std::string_view WithoutMark(std::string_view line) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    return line.starts_with(kByteOrderMark) ? line.substr(kByteOrderMark.size()) : line;
  }

  [[noreturn]] void Fail(const std::string& what, uint64_t line) const {
    term::Fail("{}:{}: {}", lines_.name(), line, what);
  }

  CsvParser parser_;
  bool is_at_end_ = false;
  std::string key_;
};

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
    const bool is_repeated = std::any_of(columns.begin(), columns.end(), [&](const Column& other) {
      return other.name() == column->name();
    });
    if (is_repeated) {
      term::FailUsage("--index is {}, but its name is already used; allowed: different names",
                      term::Shown(definition));
    }
    columns.push_back(*std::move(column));
  }
  return columns;
}

std::unique_ptr<RowReader> OpenRows(const RowReaderOptions& options) {
  if (options.format == RowFormat::kCsv) return std::make_unique<CsvRows>(options);
  return std::make_unique<LineRows>(options);
}

}  // namespace blocksieve::cli
