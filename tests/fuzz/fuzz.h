#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "blocksieve/bytes.h"

// A fuzz target is one LLVMFuzzerTestOneInput: it does with the input what a reader of foreign
// bytes does, and ends the process if something that is promised of all bytes does not hold.
// Clang's libFuzzer calls it (preset `fuzz`); with other compilers, driver.cc.

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace blocksieve::testing {

inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// A copy in memory of just its size, so that a sanitizer sees any read beyond.
inline std::vector<uint8_t> ExactCopy(ByteView bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace blocksieve::testing
