#pragma once

#include <string_view>

namespace blocksieve::bench {

/// One line on the terminal that says what is going on. Silent if stderr is not a terminal.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Show(std::string_view what);

 private:
  const bool enabled_;
};

}  // namespace blocksieve::bench
