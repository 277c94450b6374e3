#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lib/base/coding.h"
#include "lib/granule/bit_slices.h"

namespace blocksieve::internal {

/// Integers of the granules of a file, one each, all of the same width: read anywhere without
/// decoding what comes before. Where all are equal the width is 0 and they take two bytes.
/// Layout: base (varint) | width in bits (1 byte, 0..64) | values minus base, low bits first.
class PackedInts {
 public:
  PackedInts() = default;

  /// Appends the encoding of `values`.
  static void Append(std::span<const uint64_t> values, std::string* out);

  /// The same of `count` bits.
  static void AppendBits(std::span<const uint64_t> words, uint64_t count, std::string* out);

  /// Takes the encoding of `count` values off the decoder's front; what is damaged shows in
  /// `from->ok()`, and then all values are 0.
  static PackedInts Read(uint64_t count, Decoder* from) noexcept;

  /// REQUIRES: i < count
  uint64_t operator[](uint64_t i) const noexcept {
    if (width_ == 0) return base_;
    const uint64_t value = LoadBits64(bits_, i * width_);
    return base_ + (width_ == 64 ? value : value & ((uint64_t{1} << width_) - 1));
  }

  /// Whether all values are 0 or 1, so that Word may be used.
  bool IsBits() const noexcept { return width_ <= 1 && base_ <= 1 - width_; }

  /// Values 64 w to 64 w + 63 as bits, those beyond the last unspecified. REQUIRES: IsBits()
  uint64_t Word(uint64_t w) const noexcept {
    if (width_ == 0) return uint64_t{0} - base_;
    return LoadBits64(bits_, 64 * w);
  }

  /// Whether all values are the same.
  bool IsConstant() const noexcept { return width_ == 0; }

 private:
  uint64_t base_ = 0;
  uint32_t width_ = 0;
  ByteView bits_;
};

}  // namespace blocksieve::internal
