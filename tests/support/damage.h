#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "blocksieve/bytes.h"

// Damaged bytes, for tests of filters, indexes and the toy LSM's files.

namespace blocksieve::testing {

/// A copy in memory of exactly its size, so that a sanitizer finds reads outside.
inline std::vector<uint8_t> ExactCopy(ByteView bytes) { return {bytes.begin(), bytes.end()}; }

/// Changes of a byte, by xor.
using Masks = std::vector<uint8_t>;
inline Masks EveryBit() { return {1, 2, 4, 8, 16, 32, 64, 128}; }
inline Masks EveryChange() {
  Masks masks(255);
  std::iota(masks.begin(), masks.end(), uint8_t{1});
  return masks;
}

/// Calls check(bytes, at) with each byte in turn changed by each of masks_of(at). Ends at the first
/// failure.
template <class MasksOf, class Check>
void ForEachFlip(ByteView bytes, MasksOf masks_of, Check check) {
  std::vector<uint8_t> damaged = ExactCopy(bytes);
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const uint8_t mask : masks_of(at)) {
      SCOPED_TRACE("byte " + std::to_string(at) + " changed by " + std::to_string(mask));
      damaged[at] = bytes[at] ^ mask;
      check(ByteView(damaged), at);
      if (::testing::Test::HasFailure()) return;
    }
    damaged[at] = bytes[at];
  }
}

/// Calls check(bytes) after each such change, and with each shorter beginning. Ends at the first
/// failure.
template <class MasksOf, class Check>
void ForEachDamage(ByteView bytes, MasksOf masks_of, Check check) {
  ForEachFlip(bytes, masks_of, [&](ByteView changed, size_t) { check(changed); });
  for (size_t size = 0; size < bytes.size() && !::testing::Test::HasFailure(); ++size) {
    SCOPED_TRACE("first " + std::to_string(size));
    check(ByteView(ExactCopy(bytes.first(size))));
  }
}

}  // namespace blocksieve::testing
