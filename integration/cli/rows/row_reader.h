#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

// How a file becomes rows: one field of each line or CSV record is the key, the others are the
// value.

namespace blocksieve::cli {

enum class RowFormat { kLines, kCsv };

struct RowReaderOptions {
  std::string file;                      ///< "-" is standard input.
  RowFormat format = RowFormat::kLines;  ///< kCsv: RFC 4180.
  char delimiter = '\t';                 ///< Of the file.
  char stored_delimiter = '\t';          ///< Of fields in the value; with kLines that of the file.
  uint32_t key_field = 1;                ///< Counted from 1.
  bool skips_header = false;             ///< The first line or record is no row.
};

/// Reads rows one after the other. Everything throws Failure.
class RowReader {
 public:
  virtual ~RowReader() = default;

  /// False at the end. The key is valid until the next call. Throws Failure, which names the place,
  /// if the file cannot be read or what comes next is no row.
  virtual bool Next(std::string_view* key, std::string* value) = 0;

  virtual uint64_t bytes_read() const = 0;
  /// Of the whole file; 0 if that is not known.
  virtual uint64_t file_bytes() const = 0;

  /// Rows so far that end with CR, which a file from elsewhere may have before each line end.
  virtual uint64_t rows_with_cr() const { return 0; }
};

/// Throws Failure if the file cannot be opened.
std::unique_ptr<RowReader> OpenRows(const RowReaderOptions& options);

}  // namespace blocksieve::cli
