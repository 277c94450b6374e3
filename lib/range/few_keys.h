#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/range/sorted_keys.h"

// A range that begins right behind a key falls into the cell of that key, whatever the cells'
// width. But where keys are numbers of one length, a narrow range has room for a few keys only, and
// the filter for points can be asked for each of them.

namespace blocksieve::internal {

/// What all keys of a filter have in common, if they are of one length.
struct KeyForm {
  /// So many last bytes are known.
  static constexpr size_t kTailBytes = 4;

  struct Bytes {
    uint8_t lowest;
    uint8_t highest;
  };

  uint16_t key_bytes = 0;  ///< 0: they are not of one length, or too long.
  std::array<Bytes, kTailBytes> tail = {};
};

/// REQUIRES: there are keys
KeyForm FormOf(const SortedKeys& keys) noexcept;

/// The keys of a form in [begin, end), one after the other.
class FewKeys {
 public:
  FewKeys(const KeyForm& form, std::string_view begin, std::string_view end);

  /// Whether all keys in the range begin alike, up to the bytes of the form's tail.
  bool ok() const noexcept { return ok_; }

  /// The next one; false if there is none. REQUIRES: ok()
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
