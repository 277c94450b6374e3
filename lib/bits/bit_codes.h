#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cassert>
#include <cstdint>
#include <string>
#include <utility>

#include "lib/base/coding.h"

// Variable-length codes of small numbers, low bits first. lib/FORMAT.md specifies them.

namespace blocksieve::internal {

/// Maximum number of bits that are read or written at once.
inline constexpr unsigned kMaxCodeBits = 56;

inline constexpr uint64_t LowBits(unsigned bits) noexcept { return (uint64_t{1} << bits) - 1; }

/// Bits of a truncated binary code of numbers below `limit`; some numbers take one more.
inline unsigned TruncatedBits(uint64_t limit) noexcept {
  return limit <= 1 ? 0 : static_cast<unsigned>(std::bit_width(limit) - 1);
}

inline unsigned ExpGolombBits(uint64_t value, unsigned k) noexcept {
  return 2 * static_cast<unsigned>(std::bit_width((value >> k) + 1)) - 1 + k;
}

class BitWriter {
 public:
  uint64_t num_bits() const noexcept { return 8 * bytes_.size() + pending_bits_; }

  /// Appends the low `bits` of `value`. REQUIRES: bits <= kMaxCodeBits, value < 2^bits
  void Bits(uint64_t value, unsigned bits) {
    assert(bits <= kMaxCodeBits && value >> bits == 0);
    pending_ |= value << pending_bits_;
    pending_bits_ += bits;
    if (pending_bits_ < 64) return;
    AppendLittleEndian(&bytes_, pending_);
    pending_bits_ -= 64;
    pending_ = pending_bits_ == 0 ? 0 : value >> (bits - pending_bits_);
  }

  /// Appends `value` zeros and a one.
  void Unary(uint64_t value) {
    for (; value >= kMaxCodeBits; value -= kMaxCodeBits) Bits(0, kMaxCodeBits);
    Bits(uint64_t{1} << value, static_cast<unsigned>(value) + 1);
  }

  /// Appends an Exp-Golomb code. With b the number of bits below the highest one of value + 2^k:
  /// b - k in unary, then those b bits.
  void ExpGolomb(uint64_t value, unsigned k) {
    const uint64_t sum = value + (uint64_t{1} << k);
    const auto below = static_cast<unsigned>(std::bit_width(sum) - 1);
    Unary(below - k);
    Bits(sum & LowBits(below), below);
  }

  /// Appends a truncated binary code, one bit shorter for some values. REQUIRES: value < limit
  void Truncated(uint64_t value, uint64_t limit) {
    assert(value < limit);
    const unsigned bits = TruncatedBits(limit);
    const uint64_t num_short = (uint64_t{2} << bits) - limit;
    if (value < num_short) return Bits(value, bits);
    value += num_short;
    Bits(value >> 1, bits);
    Bits(value & 1, 1);
  }

  void Append(BitWriter bits) {
    uint64_t left = bits.num_bits();
    const std::string bytes = std::move(bits).Finish();
    for (uint64_t first = 0; left != 0; first += kMaxCodeBits) {
      const auto count = static_cast<unsigned>(left < kMaxCodeBits ? left : kMaxCodeBits);
      Bits(LoadBits64(AsBytes(bytes), first) & LowBits(count), count);
      left -= count;
    }
  }

  /// The bytes written, padded with zero bits.
  std::string Finish() && {
    for (uint64_t rest = pending_; pending_bits_ != 0; rest >>= 8) {
      bytes_.push_back(static_cast<char>(rest));
      pending_bits_ -= pending_bits_ < 8 ? pending_bits_ : 8;
    }
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
  uint64_t pending_ = 0;
  unsigned pending_bits_ = 0;  // below 64 between calls
};

/// Reads the codes of a BitWriter. Past the end, and after a code that no writer makes, all numbers
/// are 0 and ok() is false.
class BitReader {
 public:
  BitReader(ByteView bytes, uint64_t position) noexcept : bytes_(bytes), position_(position) {}

  bool ok() const noexcept { return ok_ && position_ <= 8 * bytes_.size(); }
  uint64_t position() const noexcept { return position_; }
  void Skip(uint64_t bits) noexcept {
    if (bits > 8 * bytes_.size())
      ok_ = false;
    else
      position_ += bits;
  }

  /// The next 64 bits, with zeros past the end, without advancing.
  uint64_t Peek() const noexcept { return LoadBits64(bytes_, position_); }

  /// At least the next kMaxCodeBits bits, without advancing; a single load except near the end.
  uint64_t PeekCode() const noexcept {
    const uint64_t byte = position_ / 8;
    if (byte + sizeof(uint64_t) > bytes_.size()) return Peek();
    return LoadLittleEndian<uint64_t>(bytes_.data() + byte) >> (position_ % 8);
  }

  /// REQUIRES: bits <= kMaxCodeBits
  uint64_t Bits(unsigned bits) noexcept {
    const uint64_t value = PeekCode() & LowBits(bits);
    position_ += bits;
    return value;
  }

  uint64_t ExpGolomb(unsigned k) noexcept {
    const uint64_t next = PeekCode();
    const auto zeros = static_cast<unsigned>(std::countr_zero(next));
    const unsigned below = zeros + k;
    if (zeros + 1 + below <= kMaxCodeBits) {
      position_ += zeros + 1 + below;
      return (next >> (zeros + 1) & LowBits(below)) + (uint64_t{1} << below) - (uint64_t{1} << k);
    }
    if (below > kMaxCodeBits) {
      ok_ = false;
      return 0;
    }
    position_ += zeros + 1;
    return Bits(below) + (uint64_t{1} << below) - (uint64_t{1} << k);
  }

  /// REQUIRES: 1 <= limit < 2^(kMaxCodeBits - 1)
  uint64_t Truncated(uint64_t limit) noexcept {
    const unsigned bits = TruncatedBits(limit);
    const uint64_t num_short = (uint64_t{2} << bits) - limit;
    const uint64_t next = PeekCode();
    const uint64_t value = next & LowBits(bits);
    if (value < num_short) {
      position_ += bits;
      return value;
    }
    position_ += bits + 1;
    return (value << 1 | (next >> bits & 1)) - num_short;
  }

 private:
  ByteView bytes_;
  uint64_t position_;
  bool ok_ = true;
};

}  // namespace blocksieve::internal
