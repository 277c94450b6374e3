#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace blocksieve::testing {

/// All random choices of a run, from one seed.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  uint64_t Bits() { return random_(); }
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t times) { return Below(times) == 0; }

 private:
  std::mt19937_64 random_;
};

/// The keys of a run: few enough to be overwritten, deleted and looked up again and again. Some are
/// prefixes of others, some differ by one in the last byte, some only in one late byte. The empty
/// key occurs three times as often as others.
class ModelKeys {
 public:
  /// `far_apart`: only kinds for which range filters are built.
  explicit ModelKeys(Dice* dice, bool far_apart = false);

  /// A key that may be in the database.
  const std::string& Any() { return keys_[dice_.Below(keys_.size())]; }

  /// A key of the run, or one right next to it.
  std::string Near();

  /// Two keys near keys of the run, in order.
  std::pair<std::string, std::string> Range();

 private:
  Dice& dice_;
  std::vector<std::string> keys_;
};

}  // namespace blocksieve::testing
