// SPDX-License-Identifier: Apache-2.0
#include "integration/sieve/normalize_url.h"

#include <string>

#include "tests/fuzz/fuzz.h"

// Any bytes have a normal form, which is its own, and is not longer except for a path of "/".

void blocksieve::testing::TestOneInput(ByteView bytes) {
  const std::string normal = sieve::NormalizeUrl(AsText(bytes));
  Require(sieve::NormalizeUrl(normal) == normal, "a normal form is its own normal form");
  Require(normal.size() <= bytes.size() + 1, "a normal form is not longer");
}
