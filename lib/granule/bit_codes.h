#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <string>

#include "lib/base/coding.h"
#include "lib/granule/bit_slices.h"

// Numbers of few bits, one after the other, low bits first. lib/FORMAT.md specifies the codes.

namespace blocksieve::internal {

/// The longest number in one piece.
inline constexpr unsigned kMaxCodeBits = 56;

/// Bits of a truncated binary code below `limit`; one more for some of the numbers.
inline unsigned TruncatedBits(uint64_t limit) noexcept {
  return limit <= 1 ? 0 : static_cast<unsigned>(std::bit_width(limit) - 1);
}

class BitWriter {
 public:
  uint64_t num_bits() const noexcept { return 8 * bytes_.size() + pending_bits_; }

  /// REQUIRES: bits <= kMaxCodeBits, and the value has no more
  void Bits(uint64_t value, unsigned bits) {
    assert(bits <= kMaxCodeBits && value >> bits == 0);
    pending_ |= value << pending_bits_;
    for (pending_bits_ += bits; pending_bits_ >= 8; pending_bits_ -= 8, pending_ >>= 8) {
      bytes_.push_back(static_cast<char>(pending_));
    }
  }

  /// `value` zeros and a one.
  void Unary(uint64_t value) {
    for (; value >= kMaxCodeBits; value -= kMaxCodeBits) Bits(0, kMaxCodeBits);
    Bits(uint64_t{1} << value, static_cast<unsigned>(value) + 1);
  }

  /// Golomb-Rice: the quotient by 2^k in unary, then the k bits of the rest.
  void Rice(uint64_t value, unsigned k) {
    Unary(value >> k);
    Bits(value & ((uint64_t{1} << k) - 1), k);
  }

  /// Exponential Golomb: the k low bits last; of the rest plus one, the number of bits below its
  /// highest one in unary, and these bits.
  void ExpGolomb(uint64_t value, unsigned k) {
    const uint64_t rest = (value >> k) + 1;
    const auto below = static_cast<unsigned>(std::bit_width(rest) - 1);
    Unary(below);
    Bits(rest & ((uint64_t{1} << below) - 1), below);
    Bits(value & ((uint64_t{1} << k) - 1), k);
  }

  /// A number below `limit` in as many bits as that takes, or one less. REQUIRES: value < limit
  void Truncated(uint64_t value, uint64_t limit) {
    assert(value < limit);
    const unsigned bits = TruncatedBits(limit);
    const uint64_t num_short = (uint64_t{2} << bits) - limit;
    if (value < num_short) return Bits(value, bits);
    value += num_short;
    Bits(value >> 1, bits);
    Bits(value & 1, 1);
  }

  /// Everything that another one wrote.
  void Append(BitWriter&& other) {
    for (const char byte : other.bytes_) Bits(static_cast<uint8_t>(byte), 8);
    Bits(other.pending_, other.pending_bits_);
  }

  /// What was written, zeros up to the next byte included.
  std::string Finish() && {
    if (pending_bits_ != 0) bytes_.push_back(static_cast<char>(pending_));
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
  uint64_t pending_ = 0;
  unsigned pending_bits_ = 0;  // below 8 between calls
};

/// Bits that ExpGolomb takes.
inline unsigned ExpGolombBits(uint64_t value, unsigned k) noexcept {
  return 2 * static_cast<unsigned>(std::bit_width((value >> k) + 1)) - 1 + k;
}

/// Reads what BitWriter wrote. Beyond the end, and after a code that no writer makes, all numbers
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

  /// The next 64 bits, zeros beyond the end. They are not taken.
  uint64_t Peek() const noexcept { return LoadBits64(bytes_, position_); }

  uint64_t Bits(unsigned bits) noexcept {
    const uint64_t value = Peek() & LowBits(bits);
    position_ += bits;
    return value;
  }

  uint64_t Unary() noexcept {
    for (uint64_t value = 0; ok(); value += 64, position_ += 64) {
      const uint64_t next = Peek();
      if (next == 0) continue;
      const auto zeros = static_cast<unsigned>(std::countr_zero(next));
      position_ += zeros + 1;
      return value + zeros;
    }
    return 0;
  }

  // A code of usual length is taken from one load.

  uint64_t Rice(unsigned k) noexcept {
    const uint64_t next = PeekShort();
    const auto zeros = static_cast<unsigned>(std::countr_zero(next));
    if (zeros + 1 + k <= kMaxCodeBits) {
      position_ += zeros + 1 + k;
      return uint64_t{zeros} << k | (next >> (zeros + 1) & LowBits(k));
    }
    const uint64_t quotient = Unary();
    return quotient << k | Bits(k);
  }

  uint64_t ExpGolomb(unsigned k) noexcept {
    const uint64_t next = PeekShort();
    const auto zeros = static_cast<unsigned>(std::countr_zero(next));
    if (2 * zeros + 1 + k <= kMaxCodeBits) {
      position_ += 2 * zeros + 1 + k;
      const uint64_t rest = (uint64_t{1} << zeros | (next >> (zeros + 1) & LowBits(zeros))) - 1;
      return rest << k | (next >> (2 * zeros + 1) & LowBits(k));
    }
    const uint64_t below = Unary();
    if (below > kMaxCodeBits - k) {
      ok_ = false;
      return 0;
    }
    const uint64_t rest = (uint64_t{1} << below | Bits(static_cast<unsigned>(below))) - 1;
    return rest << k | Bits(k);
  }

  /// REQUIRES: 1 <= limit < 2^(kMaxCodeBits - 1)
  uint64_t Truncated(uint64_t limit) noexcept {
    const unsigned bits = TruncatedBits(limit);
    const uint64_t num_short = (uint64_t{2} << bits) - limit;
    const uint64_t next = PeekShort();
    const uint64_t value = next & LowBits(bits);
    if (value < num_short) {
      position_ += bits;
      return value;
    }
    position_ += bits + 1;
    return (value << 1 | (next >> bits & 1)) - num_short;
  }

 private:
  /// At least the next kMaxCodeBits bits.
  uint64_t PeekShort() const noexcept {
    const uint64_t byte = position_ / 8;
    if (byte + sizeof(uint64_t) > bytes_.size()) return Peek();
    return LoadLittleEndian<uint64_t>(bytes_.data() + byte) >> (position_ % 8);
  }

  static uint64_t LowBits(unsigned bits) noexcept { return (uint64_t{1} << bits) - 1; }

  ByteView bytes_;
  uint64_t position_;
  bool ok_ = true;
};

}  // namespace blocksieve::internal
