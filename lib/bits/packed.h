#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cassert>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/coding.h"

// Encodings in the parts of an index.

namespace blocksieve::internal {

/// One integer per granule of a file, all of the same width, for random access. If all are equal,
/// the width is 0 and they take two bytes. Layout: base (varint) | width in bits (1 byte, 0..64) |
/// values minus base, low bits first.
class PackedInts {
 public:
  PackedInts() = default;

  static void Append(std::span<const uint64_t> values, std::string* out);

  /// Appends the encoding of `count` bits.
  static void AppendBits(std::span<const uint64_t> words, uint64_t count, std::string* out);

  /// Decodes `count` values from the front. If damaged, from->ok() is false and all values are 0.
  static PackedInts Read(uint64_t count, Decoder* from) noexcept;

  /// Value number i. REQUIRES: i < count. Not asserted: the count is not stored, and reads are
  /// bounded by the bytes.
  uint64_t operator[](uint64_t i) const noexcept {
    if (width_ == 0) return base_;
    const uint64_t value = LoadBits64(bits_, i * width_);
    return base_ + (width_ == 64 ? value : value & ((uint64_t{1} << width_) - 1));
  }

  /// Whether all values are 0 or 1, so that Word may be used.
  bool IsBits() const noexcept { return width_ <= 1 && base_ <= 1 - width_; }

  /// Values 64 w to 64 w + 63 as bits; bits past the last value are unspecified. REQUIRES: IsBits()
  uint64_t Word(uint64_t w) const noexcept {
    assert(IsBits());
    if (width_ == 0) return uint64_t{0} - base_;
    return LoadBits64(bits_, 64 * w);
  }

  bool IsConstant() const noexcept { return width_ == 0; }

 private:
  uint64_t base_ = 0;
  uint32_t width_ = 0;
  ByteView bits_;
};

/// Appends bytes without their common prefix with `previous`: length of the prefix (varint) |
/// number of other bytes (varint) | other bytes.
void AppendAfter(std::string_view previous, std::string_view bytes, std::string* out);

/// Appends bit number `index` to `words`. Bits come in ascending order from 0.
inline void AppendBit(bool bit, uint64_t index, std::vector<uint64_t>* words) {
  if (index % 64 == 0) words->push_back(0);
  words->back() |= uint64_t{bit} << (index % 64);
}

/// Compresses a text-like part of an index (keys, bounds) with zstd if that makes it smaller. That
/// halves paths after prefix compression (22 instead of 45 bytes per granule of 128 rows); without,
/// they would miss the target of 12 bits per value. Filters are incompressible.
///
/// Appends: size of `raw` (varint) | stored size (varint) | stored bytes: one zstd frame or, if the
/// sizes are equal, `raw` itself.
void AppendCompressed(std::string_view raw, std::string* out);

/// Decodes such a part from the front. Returns the raw bytes, in `memory` if they were compressed,
/// else in place. If damaged, from->ok() is false.
ByteView ReadCompressed(Decoder* from, std::vector<uint8_t>* memory);

}  // namespace blocksieve::internal
