#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "blocksieve/bytes.h"

// Little-endian integers at any alignment, LEB128 varints, and checksums. Decoders are bounded and
// report reading past the end. Nothing depends on the machine's byte order or alignment.

/// For functions that are compiled for each caller's instruction set.
#define BLOCKSIEVE_INLINE inline __attribute__((always_inline))

namespace blocksieve {

/// XXH3 as it is, of which checksums and names are made; HashKey, the hash of keys, differs.
uint64_t WideChecksum(ByteView bytes, uint64_t seed = 0) noexcept;

/// The checksum of all formats: the low 32 bits of XXH3 with seed 0.
inline uint32_t Checksum(ByteView bytes) noexcept {
  return static_cast<uint32_t>(WideChecksum(bytes));
}

template <class Integer>
inline Integer LoadLittleEndian(const uint8_t* from) noexcept {
  Integer value;
  std::memcpy(&value, from, sizeof(value));
  if constexpr (std::endian::native == std::endian::big) {
    if constexpr (sizeof(Integer) == 2) value = static_cast<Integer>(__builtin_bswap16(value));
    if constexpr (sizeof(Integer) == 4) value = __builtin_bswap32(value);
    if constexpr (sizeof(Integer) == 8) value = __builtin_bswap64(value);
  }
  return value;
}

template <class Integer>
inline void StoreLittleEndian(uint8_t* to, Integer value) noexcept {
  value = LoadLittleEndian<Integer>(reinterpret_cast<const uint8_t*>(&value));
  std::memcpy(to, &value, sizeof(value));
}

/// The 64 bits from bit number `bit` on; bits past the end are zero.
inline uint64_t LoadBits64(ByteView bytes, uint64_t bit) noexcept {
  const uint64_t byte = bit / 8;
  const unsigned shift = bit % 8;
  if (byte < bytes.size() && bytes.size() - byte > sizeof(uint64_t)) {
    const uint8_t* from = bytes.data() + byte;
    const uint64_t low = LoadLittleEndian<uint64_t>(from) >> shift;
    return shift == 0 ? low : low | static_cast<uint64_t>(from[8]) << (64 - shift);
  }
  uint64_t word = 0;
  for (unsigned i = 0; i <= 8 && byte + i < bytes.size(); ++i) {
    const uint64_t next = bytes[static_cast<size_t>(byte + i)];
    const unsigned at = 8 * i;
    if (at >= shift) {
      if (at - shift < 64) word |= next << (at - shift);
    } else {
      word |= next >> shift;
    }
  }
  return word;
}

/// `Bytes` is std::string or a class with its append functions.
template <class Integer, class Bytes>
inline void AppendLittleEndian(Bytes* out, Integer value) {
  uint8_t buffer[sizeof(Integer)];
  StoreLittleEndian(buffer, value);
  out->append(reinterpret_cast<const char*>(buffer), sizeof(buffer));
}

/// Seven bits per byte, low bits first, high bit set on all but the last byte.
template <class Bytes>
inline void AppendVarint(Bytes* out, uint64_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

/// Decodes from the front of a view. After a failure every read fails, so that a caller may read
/// all fields and check ok() once.
class Decoder {
 public:
  explicit Decoder(ByteView bytes) noexcept : rest_(bytes) {}

  bool ok() const noexcept { return ok_; }
  ByteView rest() const noexcept { return rest_; }

  template <class Integer>
  Integer Fixed() noexcept {
    if (rest_.size() < sizeof(Integer)) return Fail<Integer>();
    const Integer value = LoadLittleEndian<Integer>(rest_.data());
    rest_ = rest_.subspan(sizeof(Integer));
    return value;
  }

  /// Rejects encodings longer than ten bytes or above 2^64 - 1.
  uint64_t Varint() noexcept {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const uint8_t byte = rest_.front();
      rest_ = rest_.subspan(1);
      if (shift == 63 && byte > 1) break;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return Fail<uint64_t>();
  }

  ByteView Bytes(uint64_t size) noexcept {
    if (size > rest_.size()) return Fail<ByteView>();
    const ByteView value = rest_.first(static_cast<size_t>(size));
    rest_ = rest_.subspan(static_cast<size_t>(size));
    return value;
  }

 private:
  template <class T>
  T Fail() noexcept {
    ok_ = false;
    rest_ = {};
    return T{};
  }

  ByteView rest_;
  bool ok_ = true;
};

/// SharedBytes of two texts of at least `size` bytes, up to there. REQUIRES: size >= sizeof(Word)
template <class Word>
size_t SharedWords(const char* a, const char* b, size_t size) noexcept {
  for (size_t i = 0;;) {
    const Word differing = LoadLittleEndian<Word>(reinterpret_cast<const uint8_t*>(a) + i) ^
                           LoadLittleEndian<Word>(reinterpret_cast<const uint8_t*>(b) + i);
    if (differing != 0) return i + static_cast<size_t>(std::countr_zero(differing)) / 8;
    if (i + sizeof(Word) == size) return size;
    i = std::min(i + sizeof(Word), size - sizeof(Word));  // the last may overlap the one before
  }
}

/// Length of the common prefix of two texts, in bytes.
inline size_t SharedBytes(std::string_view a, std::string_view b) noexcept {
  const size_t shorter = std::min(a.size(), b.size());
  if (shorter >= sizeof(uint64_t)) return SharedWords<uint64_t>(a.data(), b.data(), shorter);
  if (shorter >= sizeof(uint32_t)) return SharedWords<uint32_t>(a.data(), b.data(), shorter);
  size_t i = 0;
  while (i < shorter && a[i] == b[i]) ++i;
  return i;
}

}  // namespace blocksieve
