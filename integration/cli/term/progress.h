#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace blocksieve::term {

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
