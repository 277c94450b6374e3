#include "bench/support/lookup_keys.h"

#include <random>
#include <string_view>

#include "bench/support/failure.h"
#include "bench/support/interrupt.h"

namespace blocksieve::bench {
namespace {

using Random = std::mt19937_64;

size_t Below(size_t bound, Random& random) {
  return std::uniform_int_distribution<size_t>(0, bound - 1)(random);
}

size_t PositionInSecondHalf(std::string_view key, Random& random) {
  return key.size() - 1 - Below((key.size() + 1) / 2, random);
}

std::string AlterKey(const Rows& rows, Random& random) {
  std::string key(rows.key(Below(rows.size(), random)));
  const std::string_view donor = rows.key(Below(rows.size(), random));
  key[PositionInSecondHalf(key, random)] = donor[PositionInSecondHalf(donor, random)];
  return key;
}

}  // namespace

LookupKeys DrawLookupKeys(const Rows& rows, uint64_t count, uint64_t seed) {
  Random random(seed);
  LookupKeys keys;
  keys.present.reserve(count);
  keys.absent.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    keys.present.push_back(static_cast<uint32_t>(Below(rows.size(), random)));
  }
  const std::string_view first = rows.key(0);
  const std::string_view last = rows.key(rows.size() - 1);
  const uint64_t max_tries = 100 * count + 1'000;
  for (uint64_t tries = 0; keys.absent.size() < count; ++tries) {
    if (tries == max_tries) {
      Fail("the keys are too dense: {} altered keys gave {} absent ones, {} wanted", tries,
           keys.absent.size(), count);
    }
    if (tries % 65'536 == 0) CheckInterrupt();
    std::string key = AlterKey(rows, random);
    if (first < key && key < last && !rows.Contains(key)) keys.absent.push_back(std::move(key));
  }
  return keys;
}

}  // namespace blocksieve::bench
