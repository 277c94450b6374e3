#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"
#include "integration/cli/term/terminal.h"

// Reads rows: one field of each line or CSV record is the key, the others are the value.

namespace blocksieve::cli {

/// Parses a delimiter option: one byte, or \t, \\ or \xHH, but not the line end. Throws UsageError.
char ParseDelimiter(std::string_view text, std::string_view option = "--delimiter");

/// The delimiter for messages: "TAB", "','" or "'\x01'".
std::string DelimiterName(char delimiter);

/// Splits a line into its fields, one or more.
void SplitLine(std::string_view line, char delimiter, std::vector<std::string_view>* fields);

/// Joins the fields by the delimiter, in order and without field `key_field`, from 1. Returns the
/// number of a field that contains the delimiter, and cannot be joined; 0 without any.
size_t JoinValue(std::span<const std::string_view> fields, uint32_t key_field, char delimiter,
                 std::string* value);

/// Parses the values of --index, NAME=EXTRACTOR, which number the fields of the stored value.
/// `delimiter`: between these fields. Throws UsageError, also for a repeated name.
std::vector<Column> ParseColumns(const std::vector<std::string>& definitions,
                                 char delimiter = '\t');

struct RowReaderOptions {
  std::string file;              ///< "-" is standard input.
  bool is_csv = false;           ///< RFC 4180; otherwise lines without quoting.
  char delimiter = '\t';         ///< In the file.
  char stored_delimiter = '\t';  ///< In the value; of lines the same as in the file.
  uint32_t key_field = 1;        ///< Counted from 1.
  bool skips_header = false;     ///< Skips the first line or record.
};

/// Reads rows in order. Everything throws Failure.
class RowReader {
 public:
  /// Opens the file.
  explicit RowReader(const RowReaderOptions& options);
  ~RowReader();

  /// False at the end. The key is valid until the next call. Throws Failure, with file and line, if
  /// the file cannot be read or the next row is malformed.
  bool Next(std::string_view* key, std::string* value);

  uint64_t bytes_read() const { return lines_.bytes_read(); }
  /// Size of the file; 0 if unknown.
  uint64_t file_bytes() const { return lines_.file_bytes(); }

  /// Lines so far that end with CR, as in files from Windows; 0 for CSV.
  uint64_t rows_with_cr() const { return rows_with_cr_; }

 private:
  class CsvRecords;

  bool ReadFields();  // false at the end
  [[noreturn]] void Fail(const std::string& what) const;

  const RowReaderOptions options_;
  term::LineReader lines_;
  uint64_t rows_with_cr_ = 0;
  std::unique_ptr<CsvRecords> csv_;       // null: lines
  std::vector<std::string> record_;       // with CSV, what the fields refer to
  std::vector<std::string_view> fields_;  // of the last row
};

}  // namespace blocksieve::cli
