#pragma once

#include <cstdint>

#include "blocksieve/bytes.h"
#include "blocksieve/hash.h"

namespace blocksieve {

/// The checksum of all formats: the low 32 bits of XXH3 with seed 0.
inline uint32_t Checksum(ByteView bytes) noexcept {
  return static_cast<uint32_t>(HashKey(AsText(bytes)));
}

}  // namespace blocksieve
