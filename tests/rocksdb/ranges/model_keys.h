#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/rocksdb/ranges/dice.h"

namespace blocksieve::testing {

/// The keys of a run: few enough to be overwritten, deleted and asked for again and again. Some are
/// each other's prefixes, some differ by one at their end, some are alike but for a byte far
/// behind. The empty key is one of them, thrice as often as others.
class ModelKeys {
 public:
  explicit ModelKeys(Dice* dice);

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
