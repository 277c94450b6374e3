#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/range/sorted_keys.h"

// A range that starts right after a key falls into the cell of that key, however narrow cells are.
// But if keys are numbers of one length, only a few keys are possible in a narrow range, and each
// of them can be looked up in the point filter.

namespace blocksieve::internal {

/// The common form of a filter's keys, if all have one length. Possible keys with the same head are
/// numbers whose digits are their last bytes.
struct KeyForm {
  /// Number of bytes at the end of a key whose values are known.
  static constexpr size_t kTailBytes = 4;

  /// Calls `visit(key)` for each possible key in [begin, end), in order, until it returns false.
  /// Returns whether that were all, and is false without a call if there are more than `max`, or
  /// the keys in the range do not share the bytes before the tail. Throws std::bad_alloc.
  template <class Visit>
  bool ForEachKey(std::string_view begin, std::string_view end, uint64_t max,
                  const Visit& visit) const {
    if (key_bytes < kTailBytes) return false;
    const size_t head = key_bytes - kTailBytes;
    if (begin.size() < head || end.size() < head || begin.substr(0, head) != end.substr(0, head)) {
      return false;
    }
    uint64_t number = TailsBelow(begin.substr(head));
    const uint64_t last = TailsBelow(end.substr(head));
    if (number + max < last) return false;
    std::string key(begin.substr(0, head));
    key.resize(key_bytes);
    for (; number < last; ++number) {
      SetTail(number, key.data() + head);
      if (!visit(std::string_view(key))) return false;
    }
    return true;
  }

  uint16_t key_bytes = 0;  ///< Length of each key; 0 if lengths differ or are out of range.
  std::array<uint8_t, kTailBytes> lowest = {};
  std::array<uint8_t, kTailBytes> highest = {};

 private:
  /// The number of possible tails below `tail`, which may be shorter or longer than they.
  uint64_t TailsBelow(std::string_view tail) const noexcept;
  void SetTail(uint64_t number, char* tail) const noexcept;

  /// The base of digit i.
  uint32_t NumValues(size_t i) const noexcept { return highest[i] - uint32_t{lowest[i]} + 1; }
};

/// The form of `keys`. REQUIRES: !keys.empty()
KeyForm FindKeyForm(const SortedKeys& keys) noexcept;

}  // namespace blocksieve::internal
