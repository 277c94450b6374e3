#pragma once

#include <chrono>
#include <string_view>

namespace blocksieve::term {

/// A line on the terminal that says what is going on. Silent if standard error is not a terminal.
class Progress {
 public:
  Progress();
  ~Progress();  ///< Erases the line.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Replaces the line; the empty string erases it.
  void Show(std::string_view what);

  /// Whether it is time to show something new: ten times a second, and never without a terminal.
  /// For loops in which composing the line would take longer than a step.
  bool IsDue();

 private:
  const bool enabled_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace blocksieve::term
