#include "tests/fuzz/any_bytes.h"

// Any bytes can be opened as a filter block and probed; all kernels give the same answers, batches
// those of single probes, and what cannot be read matches everything.

void blocksieve::testing::TestOneInput(ByteView bytes) {
  static const WrittenBlockPtr filter = WrittenFilters().front();
  TestAsBlock(*filter, bytes);
}
