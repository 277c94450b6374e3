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

/// @{
/// The same bytes in the other form; valid as long as the argument is.
inline ByteView AsBytes(std::string_view text) noexcept {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view AsText(ByteView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
/// @}

/// Finished bytes together with the allocation that holds them. They may begin inside the
/// allocation, so that a filter can align its cache lines although `new char[]` aligns to 16 bytes
/// only.
struct OwnedBytes {
  std::unique_ptr<char[]> memory;  ///< The allocation.
  size_t offset = 0;               ///< Where the bytes begin in the allocation.
  size_t size = 0;                 ///< Number of bytes.

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
