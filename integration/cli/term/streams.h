#pragma once

#include <string>
#include <string_view>

namespace blocksieve::term {

/// Call this before any file is opened. If standard input, output or error is closed, the next
/// opened file would get its descriptor, and rows would be written into a database file; this makes
/// such descriptors fail instead. Writing to a closed pipe becomes a write error; see Output.
void PrepareStandardStreams();

/// Writes to standard error at once. Ignores failures.
void WriteToStandardError(std::string_view text);

/// Writes the whole standard output of a program. Throws like Output::Write.
void WriteToStandardOutput(std::string_view text);

/// Standard output, buffered; on a terminal by line.
class Output {
 public:
  Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Appends. Throws Failure if the text cannot be written, except to a closed pipe: see is_wanted.
  void Write(std::string_view text);

  /// Appends `line` and a line end.
  void WriteLine(std::string_view line);

  /// Must be called at the end, or the rest of the buffer is lost. Throws like Write.
  void Flush();

  /// False after the reader closed the pipe, as `head` does.
  bool is_wanted() const { return is_wanted_; }

 private:
  const bool is_terminal_;
  bool is_wanted_ = true;
  std::string buffer_;
};

}  // namespace blocksieve::term
