#pragma once

#include <chrono>
#include <cstdint>
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

/// The progress of a task.
struct Advance {
  uint64_t done = 0;
  uint64_t all = 0;    ///< `done` at the end; 0 if unknown.
  uint64_t units = 0;  ///< Done so far, in the unit to show.
  std::string_view unit;
};

/// "loading: 1,234 rows, 12 %, 600 rows/s, 15 s left" after `seconds`, without unknown parts.
std::string ProgressText(std::string_view what, const Advance& advance, double seconds);

/// A progress line on standard error, if that is a terminal.
class Progress {
 public:
  Progress();
  ~Progress();  ///< Erases the line.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Replaces the line; the empty string erases it.
  void Show(std::string_view what);

  /// The same with a rate, since construction, and the time left.
  void Show(std::string_view what, const Advance& advance);

  /// True ten times a second, and never without a terminal. For loops whose steps are faster than
  /// composing the line.
  bool IsDue();

 private:
  const bool enabled_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point next_;
};

}  // namespace blocksieve::term
