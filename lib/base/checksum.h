#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "blocksieve/bytes.h"

namespace blocksieve {

/// XXH3 as it is, of which checksums and names are made; HashKey, the hash of keys, differs.
uint64_t WideChecksum(ByteView bytes, uint64_t seed = 0) noexcept;

/// The checksum of all formats: the low 32 bits of XXH3 with seed 0.
inline uint32_t Checksum(ByteView bytes) noexcept {
  return static_cast<uint32_t>(WideChecksum(bytes));
}

}  // namespace blocksieve
