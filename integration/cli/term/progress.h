#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace blocksieve::term {

/// How far something has come.
struct Advance {
  uint64_t done = 0;
  uint64_t all = 0;    ///< As `done` ends; 0: not known.
  uint64_t units = 0;  ///< What people count, done so far.
  std::string_view unit;
};

/// "loading: 1,234 rows, 12 %, 600 rows/s, 15 s left", after so many seconds. What is not known yet
/// is left out.
std::string ProgressText(std::string_view what, const Advance& advance, double seconds);

/// A line on the terminal that says what is going on. Silent if standard error is not a terminal.
class Progress {
 public:
  Progress();
  ~Progress();  ///< Erases the line.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Replaces the line; the empty string erases it.
  void Show(std::string_view what);

  /// The same with a rate and the time left. Both are of the time since this was made.
  void Show(std::string_view what, const Advance& advance);

  /// Whether it is time to show something new: ten times a second, and never without a terminal.
  /// For loops in which composing the line would take longer than a step.
  bool IsDue();

 private:
  const bool enabled_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point next_;
};

}  // namespace blocksieve::term
