#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace blocksieve::bench {

/// A bijection that spreads the bits of a counter (the finaliser of SplitMix64, Steele et al.,
/// 2014).
inline uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// The bytes of an unsigned number, the most significant first.
template <class Number>
std::string BigEndian(Number number) {
  std::string bytes;
  for (size_t i = sizeof number; i-- > 0;) bytes.push_back(static_cast<char>(number >> (8 * i)));
  return bytes;
}

/// A 16-byte key, unique for each number, made on the stack: with prepared keys, the benchmark
/// would measure reading the keys from memory.
class Key16 {
 public:
  explicit Key16(uint64_t number) {
    const uint64_t words[2] = {number * 0x9E3779B97F4A7C15, number};
    std::memcpy(bytes_, words, sizeof(bytes_));
  }
  std::string_view view() const { return {bytes_, sizeof(bytes_)}; }

 private:
  char bytes_[16];
};

/// The first number of absent keys. Present ones are 0 ... n - 1.
inline constexpr uint64_t kFirstAbsent = uint64_t{1} << 40;

/// A number of keys for tables, such as "10 k keys".
inline std::string NumKeys(uint64_t number) {
  if (number % 1'000'000 == 0) return fmt::format("{} M keys", number / 1'000'000);
  if (number % 1'000 == 0) return fmt::format("{} k keys", number / 1'000);
  return fmt::format("{} keys", number);
}

}  // namespace blocksieve::bench
