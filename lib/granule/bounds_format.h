#pragma once

#include <cstddef>
#include <cstdint>

// What writer and reader of bounds share. The first byte of a granule:
//   numbers: 0 no values | c + 1: bounds are cut by c low bits, then
//            zigzag varint of (low >> c) - (previous low >> c) | varint of (high >> c) - (low >> c)
//   bytes:   a BytesBounds, then the low bound after the previous one, the high one after the low:
//            shared bytes (varint) | further bytes (varint) | these

namespace blocksieve::internal {

/// Bits that the distance between the bounds of numbers keeps; 8: rounded by 1/128 at most.
inline constexpr int kNumberSpanBits = 8;

/// Bytes that bounds keep beyond the prefix they share: where they differ, and two more.
inline constexpr size_t kBytesPastPrefix = 3;

enum BytesBounds : uint8_t { kNoBounds = 0, kOneValue = 1, kTwoBounds = 2, kLowerBound = 3 };

/// Small differences of either sign as small numbers: 0, -1, 1, -2, ...
inline uint64_t ZigZag(uint64_t difference) noexcept {
  return difference << 1 ^ (uint64_t{0} - (difference >> 63));
}
inline uint64_t UnZigZag(uint64_t number) noexcept {
  return number >> 1 ^ (uint64_t{0} - (number & 1));
}

}  // namespace blocksieve::internal
