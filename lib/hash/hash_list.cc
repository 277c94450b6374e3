// SPDX-License-Identifier: Apache-2.0
#include "lib/hash/hash_list.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "lib/base/block_memory.h"

namespace blocksieve::internal {
namespace {

constexpr size_t kHeaderBytes = 16;

// Segments start small and double up to a size at which the unused part of the last is negligible.
constexpr size_t kFirstBytes = 2 << 10;
constexpr size_t kSmallBytes = 64 << 10;

// From this size on, segments are huge pages: otherwise page faults would cost as much as hashing.
constexpr size_t kHugeFromBytes = 1 << 20;
constexpr size_t kHugeBytes = kHugePageBytes;

void* Allocate(size_t bytes) noexcept {
  if (bytes != kHugeBytes) return std::malloc(bytes);
  void* memory = std::aligned_alloc(kHugeBytes, bytes);
  if (memory != nullptr) PreferHugePages(memory, bytes);
  return memory;
}

}  // namespace

void HashList::AppendToNewSegment(uint64_t hash) noexcept {
  if (Grow()) *next_++ = hash;
}

size_t HashList::next_bytes() const noexcept {
  if (memory_bytes_ >= kHugeFromBytes) return kHugeBytes;
  return std::clamp(static_cast<size_t>(memory_bytes_), kFirstBytes, kSmallBytes);
}

bool HashList::Grow() noexcept {
  if (exhausted_) return false;
  static_assert(sizeof(Segment) == kHeaderBytes);
  const size_t bytes = next_bytes();
  const size_t capacity = (bytes - kHeaderBytes) / sizeof(uint64_t);
  const bool allowed = limit_bytes_ == 0 || memory_bytes_ + bytes <= limit_bytes_;
  auto* segment = allowed ? static_cast<Segment*>(Allocate(bytes)) : nullptr;
  if (segment == nullptr) {
    exhausted_ = true;
    return false;
  }
  segment->next = nullptr;
  segment->capacity = capacity;
  (last_ == nullptr ? first_ : last_->next) = segment;
  last_ = segment;
  next_ = segment->hashes();
  end_ = next_ + capacity;
  memory_bytes_ += bytes;
  return true;
}

void HashList::DropFirst() noexcept {
  Segment* segment = first_;
  first_ = segment->next;
  if (first_ == nullptr) {
    last_ = nullptr;
    next_ = end_ = nullptr;
  }
  memory_bytes_ -= sizeof(Segment) + segment->capacity * sizeof(uint64_t);
  std::free(segment);
}

void HashList::Clear() noexcept {
  while (first_ != nullptr) DropFirst();
  exhausted_ = false;
}

void HashList::Swap(HashList& other) noexcept {
  std::swap(first_, other.first_);
  std::swap(last_, other.last_);
  std::swap(next_, other.next_);
  std::swap(end_, other.end_);
  std::swap(memory_bytes_, other.memory_bytes_);
  std::swap(limit_bytes_, other.limit_bytes_);
  std::swap(exhausted_, other.exhausted_);
}

}  // namespace blocksieve::internal
