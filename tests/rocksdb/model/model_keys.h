#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

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

/// The keys of a run: few enough to be overwritten, deleted and asked for again and again. Some are
/// each other's prefixes, some differ by one at their end, some are alike but for a byte far
/// behind. The empty key is one of them, thrice as often as others.
class ModelKeys {
 public:
  /// `far_apart`: of kinds only that range filters are built for.
  explicit ModelKeys(Dice* dice, bool far_apart = false);

  /// One that may be in the database.
  const std::string& Any() { return keys_[dice_.Below(keys_.size())]; }

  /// One of them, or one right beside it.
  std::string Near();

  /// Two that are near to keys, the lesser one first.
  std::pair<std::string, std::string> Range();

 private:
  Dice& dice_;
  std::vector<std::string> keys_;
};

}  // namespace blocksieve::testing
