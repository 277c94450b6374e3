#pragma once

#include <functional>

namespace blocksieve::bench {

/// Thrown when there is nothing to run: help was printed (code 0), or arguments are wrong and it
/// has been said how (code 2).
struct Exit {
  int code;
};

/// Runs a benchmark's main(). Returns its exit code: 0; that of an Exit; 128 + n if signal n
/// interrupted it; 1 for anything else that is thrown, which is printed to stderr.
int RunMain(const std::function<void()>& run);

}  // namespace blocksieve::bench
