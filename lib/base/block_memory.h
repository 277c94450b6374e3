#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>

#include "blocksieve/bytes.h"

namespace blocksieve::internal {

inline constexpr size_t kHugePageBytes = 2 << 20;

/// Advises the system to use huge pages within [memory, memory + bytes). Filling a large buffer at
/// random takes half the time with them: fewer page faults, and no TLB misses.
void PreferHugePages(void* memory, size_t bytes) noexcept;

/// Padding at the start of a large payload, in bytes. The reader's buffer of a large filter is an
/// allocation of whole pages, with 16 bytes of glibc's at its start. 48 bytes of padding align the
/// filter's lines to cache lines; without it, half of all probes of a 100 MB filter touch a second
/// one.
inline constexpr uint32_t kPaddingBytes = 48;

/// The padding of a payload of this size.
inline uint32_t PaddingBytes(uint64_t payload_bytes) noexcept {
  constexpr uint64_t kPageAllocationBytes = 128 << 10;
  return payload_bytes >= kPageAllocationBytes ? kPaddingBytes : 0;
}

/// Allocates a zeroed block whose byte number `padding` is aligned to a cache line. `memory` is
/// null if out of memory.
OwnedBytes AllocateBlock(uint64_t size, uint64_t padding);

}  // namespace blocksieve::internal
