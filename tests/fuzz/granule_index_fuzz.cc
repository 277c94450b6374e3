#include "tests/fuzz/any_bytes.h"

// Any bytes can be opened as a skip index, and what opens can be asked anything; all kernels
// give the same answers, and granules that always match are never removed.

void blocksieve::testing::TestOneInput(ByteView bytes) {
  static const WrittenBlockPtr index = WrittenIndexes().front();
  TestAsBlock(*index, bytes);
}
