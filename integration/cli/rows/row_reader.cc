#include "integration/cli/rows/row_reader.h"

#include <fmt/format.h>

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
      term::Fail("{}:{}: {}", lines_.name(), lines_.line_number(), WhatIsWrong(*line));
    }
    rows_with_cr_ += line->back() == '\r';
    return true;
  }

  uint64_t bytes_read() const override { return lines_.bytes_read(); }
  uint64_t file_bytes() const override { return lines_.file_bytes(); }
  uint64_t rows_with_cr() const override { return rows_with_cr_; }

 private:
  std::string WhatIsWrong(std::string_view line) const {
    if (line.empty()) return "the line is empty";
    return fmt::format("the line has {}, separated by {}; the key is field {} (--key)",
                       term::CountOf(CountFields(line, options_.delimiter), "field"),
                       DelimiterName(options_.delimiter), options_.key_field);
  }

  const RowReaderOptions options_;
  term::LineReader lines_;
  uint64_t rows_with_cr_ = 0;
};

}  // namespace

std::unique_ptr<RowReader> OpenRows(const RowReaderOptions& options) {
  if (options.format == RowFormat::kCsv) return OpenCsvRows(options);
  return std::make_unique<LineRows>(options);
}

}  // namespace blocksieve::cli
