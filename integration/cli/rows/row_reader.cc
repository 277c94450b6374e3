#include "integration/cli/rows/row_reader.h"

#include <csv.h>
#include <fmt/format.h>

#include <deque>
#include <new>
#include <optional>
#include <vector>

#include "integration/cli/rows/rows.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/line_reader.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

class LineRows final : public RowReader {
 public:
  explicit LineRows(const RowReaderOptions& options) : options_(options), lines_(options.file) {
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

  uint64_t bytes_read() const override { return lines_.bytes_read(); }
  uint64_t file_bytes() const override { return lines_.file_bytes(); }
  uint64_t rows_with_cr() const override { return rows_with_cr_; }

 private:
  std::string DescribeProblem(std::string_view line) const {
    if (line.empty()) return "the line is empty";
    return fmt::format("the line has {}, separated by {}; the key is field {} (--key)",
                       term::CountOf(CountFields(line, options_.delimiter), "field"),
                       DelimiterName(options_.delimiter), options_.key_field);
  }

  const RowReaderOptions options_;
  term::LineReader lines_;
  uint64_t rows_with_cr_ = 0;
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

  /// Returns the problem, or "".
  std::string Parse(std::string_view text) {
    const size_t parsed = csv_parse(&parser_, text.data(), text.size(), &CsvParser::AddField,
                                    &CsvParser::EndRecord, this);
    return parsed == text.size() ? "" : csv_strerror(csv_error(&parser_));
  }
  std::string Finish() {
    const bool is_ok = csv_fini(&parser_, &CsvParser::AddField, &CsvParser::EndRecord, this) == 0;
    return is_ok ? "" : "missing closing quote";
  }

  std::deque<Fields>& records() { return records_; }

 private:
  static void AddField(void* bytes, size_t size, void* self) {
    static_cast<CsvParser*>(self)->open_.emplace_back(static_cast<const char*>(bytes), size);
  }
  static void EndRecord(int, void* self) {
    auto* const parser = static_cast<CsvParser*>(self);
    parser->records_.push_back(std::move(parser->open_));
    parser->open_.clear();
  }

  csv_parser parser_{};
  Fields open_;
  std::deque<Fields> records_;
};

/// Quoted fields may have the delimiter, doubled quotes and line ends. Lines end with CR LF, LF or
/// CR. Empty lines and a byte order mark are skipped. Anything outside RFC 4180 is a Failure.
class CsvRows final : public RowReader {
 public:
  explicit CsvRows(const RowReaderOptions& options)
      : options_(options), lines_(options.file), parser_(options.delimiter) {
    if (options.skips_header) NextRecord();
  }

  bool Next(std::string_view* key, std::string* value) override {
    std::optional<Fields> fields = NextRecord();
    if (!fields) return false;
    if (fields->size() < options_.key_field) {
      Fail(fmt::format("the record has {}; the key is field {} (--key)",
                       term::CountOf(fields->size(), "field"), options_.key_field));
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

  uint64_t bytes_read() const override { return lines_.bytes_read(); }
  uint64_t file_bytes() const override { return lines_.file_bytes(); }

 private:
  void AppendField(const std::string& field, size_t number, std::string* value) const {
    if (field.find(options_.stored_delimiter) != field.npos) {
      Fail(
          fmt::format("field {} contains {}, the delimiter of the stored value; select another one "
                      "with --store-delimiter",
                      number, DelimiterName(options_.stored_delimiter)));
    }
    *value += field;
  }

  std::optional<Fields> NextRecord() {
    while (parser_.records().empty()) {
      if (is_at_end_) return std::nullopt;
      const std::optional<std::string_view> line = lines_.Next();
      std::string problem;
      if (!line) {
        is_at_end_ = true;
        problem = parser_.Finish();
      } else {
        problem = parser_.Parse(lines_.line_number() == 1 ? WithoutMark(*line) : *line);
        if (problem.empty()) problem = parser_.Parse("\n");
      }
      if (!problem.empty()) Fail("invalid CSV (RFC 4180): " + problem);
    }
    Fields fields = std::move(parser_.records().front());
    parser_.records().pop_front();
    return fields;
  }

  static std::string_view WithoutMark(std::string_view line) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    return line.starts_with(kByteOrderMark) ? line.substr(kByteOrderMark.size()) : line;
  }

  [[noreturn]] void Fail(const std::string& what) const {
    term::Fail("{}:{}: {}", lines_.name(), lines_.line_number(), what);
  }

  const RowReaderOptions options_;
  term::LineReader lines_;
  CsvParser parser_;
  bool is_at_end_ = false;
  std::string key_;
};

}  // namespace

std::unique_ptr<RowReader> OpenRows(const RowReaderOptions& options) {
  if (options.format == RowFormat::kCsv) return std::make_unique<CsvRows>(options);
  return std::make_unique<LineRows>(options);
}

}  // namespace blocksieve::cli
