#pragma once

#include <string>
#include <string_view>

namespace blocksieve::term {

/// To be called before any file is opened. If standard input, output or error is closed, the next
/// file that is opened would get its descriptor, and rows would be written into a database file:
/// such descriptors are made to fail instead. Writing to a pipe that nobody reads becomes an error
/// of the write; see Output.
void PrepareStandardStreams();

/// Writes to standard error at once. If that fails, nobody is left to be told.
void WriteToStandardError(std::string_view text);

/// Writes all of standard output that a program has. Throws like Output::Write.
void WriteToStandardOutput(std::string_view text);

/// Standard output, written in large pieces; on a terminal line by line.
class Output {
 public:
  Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Appends. Throws Failure if the text cannot be written, unless the reader has gone: see
  /// is_wanted.
  void Write(std::string_view text);

  /// Appends `line` and a line end.
  void WriteLine(std::string_view line);

  /// To be called at the end: what is still in the buffer is lost otherwise. Throws like Write.
  void Flush();

  /// False once the other end of the pipe was closed, as `head` does: it has what it wanted.
  bool is_wanted() const { return is_wanted_; }

 private:
  const bool is_terminal_;
  bool is_wanted_ = true;
  std::string buffer_;
};

}  // namespace blocksieve::term
