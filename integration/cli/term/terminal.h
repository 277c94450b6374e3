#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>

// A program at a terminal: its errors and interrupts, its input and output, and numbers as
// readable text.
// Errors and interrupts are thrown; RunMain reports them and returns the exit code.

namespace blocksieve::term {

/// The command failed: exit code 1.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The arguments are wrong: exit code 2, and a pointer to --help.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A signal stopped the program; the message says what was done until then. Thrown instead of
/// exiting, so that destructors remove temporary files.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(const std::string& what = "interrupted");
  int signal() const { return signal_; }

 private:
  int signal_;
};

/// Makes SIGINT, SIGTERM and SIGHUP set InterruptFlag and end blocking system calls with EINTR; a
/// second signal of the same kind ends the program.
void CatchInterrupts();

/// Whether such a signal arrived. Cheap enough for inner loops.
std::atomic<bool>& InterruptFlag();

/// Throws Interrupted if such a signal arrived.
inline void CheckInterrupt() {
  if (InterruptFlag().load(std::memory_order_relaxed)) throw Interrupted();
}

template <class... Args>
[[noreturn]] void Fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure(fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void FailUsage(fmt::format_string<Args...> format, Args&&... args) {
  throw UsageError(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws Failure with the message and the status, such as one of RocksDB, unless that is OK.
template <class Status, class... Args>
void CheckOk(const Status& status, fmt::format_string<Args...> format, Args&&... args) {
  if (status.ok()) return;
  Fail("{}: {}", fmt::format(format, std::forward<Args>(args)...), status.ToString());
}

/// Runs a program and returns its exit code: 0; 2 for a UsageError; 128 + n
/// for Interrupted by signal n; 1 for any other exception, or if stdout cannot be written. Reports
/// them on standard error as "NAME: MESSAGE", or by `describe`. `run` may change `name`.
using Describe =
    std::function<std::string(const std::string& name, const char* message, int exit_code)>;
int RunMain(const std::string& name, const std::function<void()>& run,
            const Describe& describe = nullptr);

/// Call this before any file is opened, which would get the descriptor of a closed standard stream,
/// and its rows. Writing to a closed pipe becomes a write error; see Output.
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

  /// Must be called at the end, or the rest of the buffer is lost. Throws like Write.
  void Flush();

  /// False after the reader closed the pipe, as `head` does.
  bool is_wanted() const { return is_wanted_; }

 private:
  const bool is_terminal_;
  bool is_wanted_ = true;
  std::string buffer_;
};

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

/// "loading: 1,234 rows, 12 %". `all`: `done` at the end; 0 if unknown. `units`: done so far, in
/// the unit to show.
std::string ProgressText(std::string_view what, uint64_t done, uint64_t all, uint64_t units,
                         std::string_view unit);

/// A progress line on standard error, if that is a terminal.
class Progress {
 public:
  Progress();
  ~Progress();  ///< Erases the line.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Replaces the line; the empty string erases it.
  void Show(std::string_view what);

  /// The same with a ProgressText, ten times a second. Cheap enough for loops whose steps are
  /// faster than composing the line.
  void Show(std::string_view what, uint64_t done, uint64_t all, uint64_t units,
            std::string_view unit);

 private:
  const bool enabled_;
  std::chrono::steady_clock::time_point next_;
};

/// 1234567 as "1,234,567".
std::string WithCommas(uint64_t number);

/// "1 row", "1,234 rows".
std::string CountOf(uint64_t number, std::string_view what);

/// A number with this many significant digits, but no trailing zeros and no exponent: "0.0000123",
/// "45.3", "12,345".
std::string NumberText(double number, int digits = 3);

/// Shortens a value for a message: up to 80 bytes, then "..." if it is longer.
std::string Shorten(std::string_view value);

}  // namespace blocksieve::term
