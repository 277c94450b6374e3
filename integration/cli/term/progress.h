#pragma once

#include <chrono>
#include <string_view>

namespace blocksieve::cli {

/// One line on the terminal that says what is going on. Silent if standard error is no terminal.
class Progress {
 public:
  Progress();
  ~Progress();  ///< Erases the line.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether it is time to show something new: some times per second, never without a terminal.
  bool IsDue();

  void Show(std::string_view what);

 private:
  const bool enabled_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace blocksieve::cli
