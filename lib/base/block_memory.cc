#include "lib/base/block_memory.h"

#include <cstring>
#include <new>

#include "lib/base/huge_pages.h"

namespace blocksieve::internal {
namespace {

constexpr uint64_t kLeadBytes = 48;
constexpr uint64_t kPageAllocationBytes = 128 << 10;
constexpr uint64_t kCacheLineBytes = 64;

}  // namespace

uint32_t LeadBytes(uint64_t payload_bytes) noexcept {
  return payload_bytes >= kPageAllocationBytes ? kLeadBytes : 0;
}

OwnedBytes AllocateBlock(uint64_t size, uint64_t lead) {
  OwnedBytes block;
  const uint64_t allocated = size + kCacheLineBytes;
  block.memory.reset(new (std::nothrow) char[static_cast<size_t>(allocated)]);
  if (block.memory == nullptr) return block;
  PreferHugePages(block.memory.get(), static_cast<size_t>(allocated));
  std::memset(block.memory.get(), 0, static_cast<size_t>(allocated));
  const auto address = reinterpret_cast<uintptr_t>(block.memory.get());
  block.offset = (kCacheLineBytes - (address + lead) % kCacheLineBytes) % kCacheLineBytes;
  block.size = static_cast<size_t>(size);
  return block;
}

}  // namespace blocksieve::internal
