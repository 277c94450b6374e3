// SPDX-License-Identifier: Apache-2.0
#include "lib/base/block_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace blocksieve::internal {
namespace {

constexpr uint64_t kCacheLineBytes = 64;

}  // namespace

void PreferHugePages(void* memory, size_t bytes) noexcept {
#if defined(MADV_HUGEPAGE)
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (address + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  const uintptr_t last = (address + bytes) / kHugePageBytes * kHugePageBytes;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): page boundaries are computed as numbers
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
#endif
}

OwnedBytes AllocateBlock(uint64_t size, uint64_t padding) {
  OwnedBytes block;
  const uint64_t allocated = size + kCacheLineBytes;
  block.memory.reset(new (std::nothrow) char[static_cast<size_t>(allocated)]);
  if (block.memory == nullptr) return block;
  PreferHugePages(block.memory.get(), static_cast<size_t>(allocated));
  std::memset(block.memory.get(), 0, static_cast<size_t>(allocated));
  const auto address = reinterpret_cast<uintptr_t>(block.memory.get());
  block.offset = (kCacheLineBytes - (address + padding) % kCacheLineBytes) % kCacheLineBytes;
  block.size = static_cast<size_t>(size);
  return block;
}

}  // namespace blocksieve::internal
