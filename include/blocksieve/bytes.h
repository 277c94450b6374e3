#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

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

namespace internal {
/// A `T` that a move leaves as if it were new. What an object owns, and what points into it, are of
/// such types, so that a moved-from object has nothing and says so, and a self-move changes
/// nothing.
template <class T>
struct NewAfterMove : T {
  NewAfterMove() = default;
  NewAfterMove(T value) : T(std::move(value)) {}  // NOLINT: implicit
  NewAfterMove(const NewAfterMove&) = default;
  NewAfterMove& operator=(const NewAfterMove&) = default;
  NewAfterMove(NewAfterMove&& other) noexcept : T(static_cast<T&&>(other)) { other.Reset(); }
  NewAfterMove& operator=(NewAfterMove&& other) noexcept {
    if (this == &other) return *this;
    static_cast<T&>(*this) = static_cast<T&&>(other);
    other.Reset();
    return *this;
  }

 private:
  void Reset() noexcept { static_cast<T&>(*this) = T(); }
};

struct OwnedBytesParts {
  std::unique_ptr<char[]> memory;  ///< The allocation.
  size_t offset = 0;               ///< Offset of the bytes in the allocation.
  size_t size = 0;                 ///< Number of bytes.
};
}  // namespace internal

/// Finished bytes and the allocation that holds them. The bytes may start inside the allocation,
/// because a filter aligns its cache lines and `new char[]` aligns to 16 bytes only. A move leaves
/// no bytes.
struct OwnedBytes : internal::NewAfterMove<internal::OwnedBytesParts> {
  /// @{
  /// The bytes, owned by `memory`.
  uint8_t* data() noexcept { return reinterpret_cast<uint8_t*>(memory.get()) + offset; }
  const uint8_t* data() const noexcept {
    return reinterpret_cast<const uint8_t*>(memory.get()) + offset;
  }
  ByteView view() const noexcept { return {data(), size}; }
  /// @}
};

/// A view of a batch of keys in an engine's own type: an array of pointers to structs of a key's
/// address and length, such as rocksdb::Slice.
class KeyList {
 public:
  /// The array must outlive the list.
  template <class Slice>
  explicit KeyList(const Slice* const* keys) noexcept : pointers_(keys) {
    static_assert(std::is_standard_layout_v<Slice> &&
                  sizeof(Slice) == sizeof(const char*) + sizeof(size_t));
  }

  /// Key number i. REQUIRES: the array has it.
  std::string_view operator[](size_t i) const noexcept {
    // memcpy, because the engine's type is not known here.
    const void* slice;
    std::memcpy(&slice, static_cast<const char*>(pointers_) + i * sizeof(slice), sizeof(slice));
    const char* key;
    size_t length;
    std::memcpy(&key, slice, sizeof(key));
    std::memcpy(&length, static_cast<const char*>(slice) + sizeof(key), sizeof(length));
    return {key, length};
  }

  /// The keys from number `first` on.
  KeyList From(size_t first) const noexcept {
    KeyList rest = *this;
    rest.pointers_ = static_cast<const char*>(pointers_) + first * sizeof(void*);
    return rest;
  }

 private:
  const void* pointers_;
};

}  // namespace blocksieve
