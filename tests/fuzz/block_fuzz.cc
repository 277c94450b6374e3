#include "tests/core/format/written_block.h"
#include "tests/fuzz/fuzz.h"

// Any bytes may stand where a filter, one with a part for ranges, or a skip index is expected, also
// with checksums that are right: what cannot be read denies nothing, and what opens can be asked
// anything, with the same answers by all kernels. Expectations are GoogleTest's here: the first
// that fails ends the process.

void blocksieve::testing::TestOneInput(ByteView bytes) {
  static const std::vector<WrittenBlockPtr> formats = [] {
    GTEST_FLAG_SET(throw_on_failure, true);
    return std::vector{WrittenFilters().front(), WrittenRanges().front(), WrittenIndexes().front()};
  }();
  for (const WrittenBlockPtr& format : formats) {
    format->ExpectHarmless(bytes);
    const auto sealed = format->Reseal(bytes);
    if (sealed) format->ExpectHarmless(std::vector<uint8_t>(sealed->begin(), sealed->end()));
  }
}
