#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "lib/base/coding.h"

namespace blocksieve::internal {

/// The keys of a filter, ascending and distinct. They never move: growing buffers would copy them,
/// and touch three times as much memory.
class SortedKeys {
 public:
  struct Entry {
    std::string_view key() const noexcept { return {bytes, size}; }

    const char* bytes;
    uint32_t size;
    uint32_t shared;
  };

  /// Appends a key; ignores one that equals the last. False if it is below the last. Throws
  /// std::bad_alloc.
  bool Append(std::string_view key) {
    const size_t shared = SharedBytes(last_, key);
    if (shared == key.size() && !empty()) return shared == last_.size();
    if (shared < last_.size() &&
        static_cast<uint8_t>(key[shared]) < static_cast<uint8_t>(last_[shared])) {
      return false;
    }
    if (key.size() > room_) [[unlikely]]
      AddSegment(key.size());
    last_ = {end_ - room_, key.size()};
    constexpr size_t kWord = sizeof(uint64_t);
    if (key.size() - kWord <= kWord) {  // a call of memcpy would take as long as all the rest
      uint64_t words[2];
      std::memcpy(&words[0], key.data(), kWord);
      std::memcpy(&words[1], key.data() + key.size() - kWord, kWord);
      std::memcpy(end_ - room_, &words[0], kWord);
      std::memcpy(end_ - room_ + key.size() - kWord, &words[1], kWord);
    } else {
      key.copy(end_ - room_, key.size());
    }
    room_ -= key.size();
    entries_.push_back(
        {last_.data(), static_cast<uint32_t>(key.size()), static_cast<uint32_t>(shared)});
    deepest_ = std::max(deepest_, shared);
    return true;
  }

  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }
  size_t size() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return entries_.empty(); }
  std::string_view back() const noexcept { return last_; }
  std::string_view operator[](size_t i) const noexcept { return entries_[i].key(); }

  /// Number of bytes that key `i` shares with the key before it; 0 for the first.
  size_t shared(size_t i) const noexcept { return entries_[i].shared; }

  /// The maximum of shared().
  size_t deepest() const noexcept { return deepest_; }

  /// Approximate memory in use, in bytes.
  uint64_t num_bytes() const noexcept { return num_bytes_ - room_ + size() * sizeof(Entry); }

  void Clear() noexcept {
    segments_.clear();
    entries_.clear();
    last_ = {};
    room_ = deepest_ = num_bytes_ = 0;
  }

 private:
  // Out of line, so that Append, which runs for every key, is short.
  [[gnu::noinline]] void AddSegment(size_t needed) {
    if (needed > UINT32_MAX) throw std::bad_alloc();
    room_ = std::max(needed, std::clamp<size_t>(num_bytes_, 2 << 10, 64 << 10));
    segments_.push_back(std::unique_ptr<char[]>(new char[room_]));
    end_ = segments_.back().get() + room_;
    num_bytes_ += room_;
  }

  std::vector<std::unique_ptr<char[]>> segments_;  // of bytes
  char* end_ = nullptr;                            // of the last segment
  size_t room_ = 0;                                // before it
  std::deque<Entry> entries_;
  std::string_view last_;
  size_t deepest_ = 0;
  uint64_t num_bytes_ = 0;  // of segments
};

}  // namespace blocksieve::internal
