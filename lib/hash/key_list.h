#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace blocksieve {

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
