// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  blocksieve::testing::TestOneInput({data, size});
  return 0;
}
