#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "blocksieve/status.h"  // first of all says whether the language is too old

namespace blocksieve {

/// Read-only bytes owned by somebody else.
using ByteView = std::span<const uint8_t>;

/// The bytes of `text`; valid as long as `text` is.
inline ByteView AsBytes(std::string_view text) noexcept {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

/// The same bytes as text; valid as long as `bytes` are.
inline std::string_view AsText(ByteView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Finished bytes together with the allocation that holds them. They may begin inside the
/// allocation, so that a filter can align its cache lines although `new char[]` aligns to 16 bytes
/// only.
struct OwnedBytes {
  std::unique_ptr<char[]> memory;  ///< The allocation.
  size_t offset = 0;               ///< In it, of the first of the bytes.
  size_t size = 0;                 ///< How many bytes.

  /// @{
  /// The bytes; valid as long as `memory` is.
  uint8_t* data() noexcept { return reinterpret_cast<uint8_t*>(memory.get()) + offset; }
  const uint8_t* data() const noexcept {
    return reinterpret_cast<const uint8_t*>(memory.get()) + offset;
  }
  ByteView view() const noexcept { return {data(), size}; }
  /// @}
};

}  // namespace blocksieve
