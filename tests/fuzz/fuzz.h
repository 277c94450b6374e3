#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "blocksieve/bytes.h"

namespace blocksieve::testing {

/// Defined by each fuzz target. Reads the input as foreign bytes, and ends the process if a promise
/// about arbitrary bytes is broken. The input is in memory of exactly its size, so that sanitizers
/// detect reads beyond it. Called by Clang's libFuzzer through libfuzzer.cc (preset `fuzz`), and by
/// driver.cc with other compilers.
void TestOneInput(ByteView input);

inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace blocksieve::testing
