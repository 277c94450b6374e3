#include "integration/sieve/normalize_url.h"

#include <string>

#include "tests/fuzz/fuzz.h"

// Any bytes have a normal form, which is its own, and no longer than they but for a path of "/".

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace blocksieve;
  using namespace blocksieve::testing;
  const std::string normal = sieve::NormalizeUrl(AsText({data, size}));
  Require(sieve::NormalizeUrl(normal) == normal, "a normal form is its own");
  Require(normal.size() <= size + 1, "a normal form is not longer");
  return 0;
}
