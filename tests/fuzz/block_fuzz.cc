// SPDX-License-Identifier: Apache-2.0
#include "tests/core/format/written_block.h"
#include "tests/fuzz/fuzz.h"

// Any bytes in place of any filter or of a skip index, also with correct
// checksums: an unreadable block denies nothing, and a readable one can be probed for anything,
// with the same answers from all kernels. The first failed GoogleTest expectation ends the process.

void blocksieve::testing::TestOneInput(ByteView bytes) {
  static const std::vector<WrittenBlockPtr> formats = [] {
    GTEST_FLAG_SET(throw_on_failure, true);
    return std::vector{WrittenFilters().front(), WrittenFilters().back(),
                       WrittenContainers().front(), WrittenContainers().back(),
                       WrittenIndexes().front()};
  }();
  for (const WrittenBlockPtr& format : formats) {
    format->ExpectHarmless(bytes);
    const auto sealed = format->Reseal(bytes);
    if (sealed) format->ExpectHarmless(std::vector<uint8_t>(sealed->begin(), sealed->end()));
    Require(!::testing::UnitTest::GetInstance()->Failed(), "a damaged block is harmless");
  }
}
