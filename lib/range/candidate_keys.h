#pragma once

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

/// The common form of a filter's keys, if all have one length.
struct KeyForm {
  /// Number of bytes at the end of a key whose values are known.
  static constexpr size_t kTailBytes = 4;

  struct Bytes {
    uint8_t lowest;
    uint8_t highest;
  };

  uint16_t key_bytes = 0;  ///< Length of each key; 0 if lengths differ or are out of range.
  std::array<Bytes, kTailBytes> tail = {};
};

/// The form of `keys`. REQUIRES: !keys.empty()
KeyForm FormOf(const SortedKeys& keys) noexcept;

/// Enumerates the possible keys of a form in [begin, end), in order.
class CandidateKeys {
 public:
  CandidateKeys(const KeyForm& form, std::string_view begin, std::string_view end);

  /// Whether all keys in the range share the bytes before the form's tail.
  bool ok() const noexcept { return ok_; }

  /// Advances to the first or next key; false after the last. REQUIRES: ok()
  bool Next() noexcept;
  std::string_view key() const noexcept { return key_; }

 private:
  const KeyForm& form_;
  const std::string_view end_;
  bool ok_ = false;
  bool is_first_ = true;
  std::string key_;
};

}  // namespace blocksieve::internal
