#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/coding.h"

namespace blocksieve::internal {

/// The keys of a filter, ascending and distinct, in one string.
class SortedKeys {
 public:
  /// Appends a key; ignores one that equals the last. False if it is below the last.
  bool Append(std::string_view key) {
    size_t shared = 0;
    if (!empty()) {
      const std::string_view last = back();
      shared = SharedBytes(last, key);
      if (shared == key.size()) return shared == last.size();
      if (shared < last.size() &&
          static_cast<uint8_t>(key[shared]) < static_cast<uint8_t>(last[shared])) {
        return false;
      }
    }
    shared_.push_back(static_cast<uint32_t>(shared));
    bytes_.append(key);
    ends_.push_back(bytes_.size());
    return true;
  }

  size_t size() const noexcept { return ends_.size(); }
  bool empty() const noexcept { return ends_.empty(); }
  std::string_view back() const noexcept { return (*this)[size() - 1]; }

  std::string_view operator[](size_t i) const noexcept {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {bytes_.data() + begin, ends_[i] - begin};
  }

  /// Number of bytes that key `i` shares with the key before it; 0 for the first.
  size_t shared(size_t i) const noexcept { return shared_[i]; }

  /// Approximate memory in use, in bytes.
  uint64_t num_bytes() const noexcept {
    return bytes_.size() + size() * (sizeof(uint64_t) + sizeof(uint32_t));
  }

  void Clear() noexcept {
    bytes_.clear();
    ends_.clear();
    shared_.clear();
  }

 private:
  std::string bytes_;
  std::vector<uint64_t> ends_;
  std::vector<uint32_t> shared_;
};

}  // namespace blocksieve::internal
