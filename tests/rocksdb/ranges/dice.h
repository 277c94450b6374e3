#pragma once

#include <cstdint>
#include <random>

namespace blocksieve::testing {

/// All chance of a run, from one seed.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  uint64_t Bits() { return random_(); }
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t times) { return Below(times) == 0; }

 private:
  std::mt19937_64 random_;
};

}  // namespace blocksieve::testing
