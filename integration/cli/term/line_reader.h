#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace blocksieve::term {

/// Reads a file line by line. Lines may hold any bytes, and end with '\n', which is not part of
/// them; the last one may lack it.
class LineReader {
 public:
  static constexpr size_t kMaxLineBytes = size_t{1} << 30;

  /// "-" is standard input. Throws Failure if it cannot be opened or is a directory.
  explicit LineReader(const std::string& path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line, valid until the next call; none at the end, and once InterruptFlag is set.
  /// Throws Failure if it cannot be read, or is longer than kMaxLineBytes.
  std::optional<std::string_view> Next();

  /// Of the line that Next returned last, from 1; 0 before the first.
  uint64_t line_number() const { return line_number_; }

  /// The file as messages name it.
  const std::string& name() const { return name_; }

  uint64_t bytes_read() const { return bytes_read_; }

  /// Of the whole file; 0 if that is not known.
  uint64_t file_bytes() const { return file_bytes_; }

 private:
  // Appends a piece of the file to the buffer. False at the end.
  bool Fill();

  std::string name_;
  int descriptor_ = -1;
  uint64_t file_bytes_ = 0;
  uint64_t bytes_read_ = 0;
  uint64_t line_number_ = 0;
  bool at_end_ = false;
  std::string buffer_;
  size_t begin_ = 0;  // of what was not yet returned
  size_t end_ = 0;    // of what was read
};

}  // namespace blocksieve::term
