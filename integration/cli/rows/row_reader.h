#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

// Reads rows: one field of each line or CSV record is the key, the others are the value.

namespace blocksieve::cli {

enum class RowFormat { kLines, kCsv };

struct RowReaderOptions {
  std::string file;                      ///< "-" is standard input.
  RowFormat format = RowFormat::kLines;  ///< kCsv: RFC 4180.
  char delimiter = '\t';                 ///< In the file.
  char stored_delimiter = '\t';          ///< In the value; with kLines the same as in the file.
  uint32_t key_field = 1;                ///< Counted from 1.
  bool skips_header = false;             ///< Skips the first line or record.
};

/// Reads rows in order. Everything throws Failure.
class RowReader {
 public:
  virtual ~RowReader() = default;

  /// False at the end. The key is valid until the next call. Throws Failure, with file and line, if
  /// the file cannot be read or the next row is malformed.
  virtual bool Next(std::string_view* key, std::string* value) = 0;

  virtual uint64_t bytes_read() const = 0;
  /// Size of the file; 0 if unknown.
  virtual uint64_t file_bytes() const = 0;

  /// Rows so far that end with CR, as in files from Windows.
  virtual uint64_t rows_with_cr() const { return 0; }
};

/// Throws Failure if the file cannot be opened.
std::unique_ptr<RowReader> OpenRows(const RowReaderOptions& options);

}  // namespace blocksieve::cli
