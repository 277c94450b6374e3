#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "blocksieve/bytes.h"

namespace blocksieve::testing {

/// What each fuzz target defines: does with the input what a reader of foreign bytes does, and ends
/// the process if something that is promised of all bytes does not hold. The input lies in memory
/// of just its size, so that a sanitizer sees any read beyond. Clang's libFuzzer calls it by way of
/// libfuzzer.cc (preset `fuzz`); with other compilers, driver.cc does.
void TestOneInput(ByteView input);

inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace blocksieve::testing
