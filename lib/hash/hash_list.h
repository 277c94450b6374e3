#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>

namespace blocksieve::internal {

/// An append-only list of hashes in segments. Appending never moves hashes, so memory stays at
/// eight bytes per hash where a growing vector would peak at twenty-four.
///
/// Running out of memory, or exceeding the limit, is a state, not an exception: later hashes are
/// dropped and exhausted() is true.
class HashList {
 public:
  /// `limit_bytes`: maximum bytes to allocate; 0: no limit.
  explicit HashList(uint64_t limit_bytes = 0) noexcept : limit_bytes_(limit_bytes) {}
  HashList(HashList&& other) noexcept { Swap(other); }
  HashList& operator=(HashList&& other) noexcept {
    HashList(static_cast<HashList&&>(other)).Swap(*this);
    return *this;
  }
  ~HashList() { Clear(); }

  void Append(uint64_t hash) noexcept {
    if (next_ == end_) return AppendToNewSegment(hash);
    *next_++ = hash;
  }

  /// Whether Append will allocate.
  bool needs_memory() const noexcept { return next_ == end_; }

  /// Takes time linear in the number of segments.
  size_t size() const noexcept {
    size_t size = 0;
    ForEachRun([&](std::span<const uint64_t> run) { size += run.size(); });
    return size;
  }
  bool exhausted() const noexcept { return exhausted_; }

  /// Bytes allocated, and those of the next allocation.
  uint64_t memory_bytes() const noexcept { return memory_bytes_; }
  size_t next_bytes() const noexcept;

  /// Frees all segments and resets exhausted().
  void Clear() noexcept;

  /// Calls `visit` with each run of hashes, in the order of appending.
  template <class Visit>
  void ForEachRun(Visit visit) const {
    for (const Segment* segment = first_; segment != nullptr; segment = segment->next) {
      const size_t count =
          segment == last_ ? static_cast<size_t>(next_ - First()) : segment->capacity;
      visit(std::span<const uint64_t>(segment->hashes(), count));
    }
  }

  /// Like ForEachRun, but frees each run after the visit; the list ends empty.
  template <class Visit>
  void ConsumeRuns(Visit visit) {
    while (first_ != nullptr) {
      const size_t count =
          first_ == last_ ? static_cast<size_t>(next_ - First()) : first_->capacity;
      visit(std::span<uint64_t>(first_->hashes(), count));
      DropFirst();
    }
    Clear();
  }

 private:
  struct Segment {
    Segment* next;
    size_t capacity;
    uint64_t* hashes() noexcept { return reinterpret_cast<uint64_t*>(this + 1); }
    const uint64_t* hashes() const noexcept { return reinterpret_cast<const uint64_t*>(this + 1); }
  };

  const uint64_t* First() const noexcept { return last_->hashes(); }
  // Out of line, so that Append, which runs for every key, need not save registers.
  void AppendToNewSegment(uint64_t hash) noexcept;
  bool Grow() noexcept;
  void DropFirst() noexcept;
  void Swap(HashList& other) noexcept;

  Segment* first_ = nullptr;
  Segment* last_ = nullptr;
  uint64_t* next_ = nullptr;
  uint64_t* end_ = nullptr;
  uint64_t memory_bytes_ = 0;
  uint64_t limit_bytes_ = 0;
  bool exhausted_ = false;
};

}  // namespace blocksieve::internal
