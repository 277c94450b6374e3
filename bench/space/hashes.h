#pragma once

#include <cstdint>

namespace blocksieve::bench::space {

/// Filters are given hashes, so any sequence without repetitions or pattern will do: a bijection of
/// the numbers (the finaliser of SplitMix64; Steele, Lea, Flood 2014).
inline uint64_t HashOf(uint64_t number) {
  number = (number + 1) * 0x9E3779B97F4A7C15u;
  number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9u;
  number = (number ^ number >> 27) * 0x94D049BB133111EBu;
  return number ^ number >> 31;
}

}  // namespace blocksieve::bench::space
