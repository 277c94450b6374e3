#pragma once

#include <cstdint>

#include "blocksieve/bytes.h"
#include "lib/base/coding.h"

namespace blocksieve::internal {

/// The 64 bits from bit number `bit` on; those beyond the end are zero.
inline uint64_t LoadBits64(ByteView bytes, uint64_t bit) noexcept {
  const uint64_t byte = bit / 8;
  const unsigned shift = bit % 8;
  if (byte < bytes.size() && bytes.size() - byte > sizeof(uint64_t)) {
    const uint8_t* from = bytes.data() + byte;
    const uint64_t low = LoadLittleEndian<uint64_t>(from) >> shift;
    return shift == 0 ? low : low | static_cast<uint64_t>(from[8]) << (64 - shift);
  }
  uint64_t word = 0;
  for (unsigned i = 0; i <= 8 && byte + i < bytes.size(); ++i) {
    const uint64_t next = bytes[static_cast<size_t>(byte + i)];
    const unsigned at = 8 * i;
    if (at >= shift) {
      if (at - shift < 64) word |= next << (at - shift);
    } else {
      word |= next >> shift;
    }
  }
  return word;
}

}  // namespace blocksieve::internal
