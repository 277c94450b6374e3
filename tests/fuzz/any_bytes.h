#pragma once

#include "tests/core/format/written_block.h"
#include "tests/fuzz/fuzz.h"

namespace blocksieve::testing {

/// Any bytes may stand where a block of a format is expected, also with checksums that are right.
/// Expectations are GoogleTest's here: the first that fails ends the process.
inline void TestAsBlock(const WrittenBlock& format, ByteView bytes) {
  static const bool throws = (GTEST_FLAG_SET(throw_on_failure, true), true);
  static_cast<void>(throws);
  CheckAlsoResealed(
      bytes, [&](ByteView block) { return format.Reseal(block); },
      [&](ByteView block) { format.ExpectHarmless(block); });
}

}  // namespace blocksieve::testing
