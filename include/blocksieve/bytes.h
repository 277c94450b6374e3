#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "blocksieve/status.h"  // first: reports a C++ standard that is too old

namespace blocksieve {

/// Read-only bytes that the view does not own.
using ByteView = std::span<const uint8_t>;

/// @{
/// Converts between two views of the same bytes.
inline ByteView AsBytes(std::string_view text) noexcept {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view AsText(ByteView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
/// @}

/// Finished bytes and the allocation that holds them. The bytes may start inside the allocation,
/// because a filter aligns its cache lines and `new char[]` aligns to 16 bytes only.
struct OwnedBytes {
  std::unique_ptr<char[]> memory;  ///< The allocation.
  size_t offset = 0;               ///< Offset of the bytes in the allocation.
  size_t size = 0;                 ///< Number of bytes.

  /// @{
  /// The bytes, owned by `memory`.
  uint8_t* data() noexcept { return reinterpret_cast<uint8_t*>(memory.get()) + offset; }
  const uint8_t* data() const noexcept {
    return reinterpret_cast<const uint8_t*>(memory.get()) + offset;
  }
  ByteView view() const noexcept { return {data(), size}; }
  /// @}
};

}  // namespace blocksieve
