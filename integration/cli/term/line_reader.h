#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <streambuf>
#include <string>
#include <string_view>

namespace blocksieve::term {

/// Reads a file line by line. Lines may have any bytes and are returned without their '\n', which
/// the last one may lack.
class LineReader : private std::streambuf {
 public:
  static constexpr size_t kMaxLineBytes = size_t{1} << 30;

  /// "-" is standard input. Throws Failure if it cannot be opened or is a directory.
  explicit LineReader(const std::string& path);
  ~LineReader() override;
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line, valid until the next call; nullopt at the end, or if InterruptFlag is set.
  /// Throws Failure if it cannot be read or exceeds kMaxLineBytes.
  std::optional<std::string_view> Next();

  /// Number of the line that Next returned last, from 1; 0 before the first.
  uint64_t line_number() const { return line_number_; }

  /// The name of the file for messages.
  const std::string& name() const { return name_; }

  uint64_t bytes_read() const { return bytes_read_; }

  /// Size of the file; 0 if unknown.
  uint64_t file_bytes() const { return file_bytes_; }

 private:
  int_type underflow() override;  // fills the buffer

  std::string name_;
  int descriptor_ = -1;
  uint64_t file_bytes_ = 0;
  uint64_t bytes_read_ = 0;
  uint64_t line_number_ = 0;
  std::string buffer_ = std::string(1 << 20, '\0');
  std::istream lines_{this};
  std::string line_;
  uint64_t line_begin_ = 0;  // position of the next line in the file
};

}  // namespace blocksieve::term
