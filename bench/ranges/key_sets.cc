#include "bench/ranges/key_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "bench/support/inputs.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench::ranges {
namespace {

using Random = std::mt19937_64;

constexpr uint64_t kFirstMillisecond = 1'700'000'000'000;
constexpr uint64_t kTenantMilliseconds = 1'000'000'000;  // 11.6 days
constexpr uint64_t kKeysPerTenant = 20;

uint64_t ReadBigEndian(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < 8; ++i) {
    number = number << 8 | (i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0);
  }
  return number;
}

// `number` + max(1, `step`), at most `largest`.
uint64_t Later(uint64_t number, double step, uint64_t largest = UINT64_MAX) {
  const uint64_t room = largest - number;
  if (step >= static_cast<double>(room)) return largest;
  return number + std::max<uint64_t>(1, static_cast<uint64_t>(step));
}

// Increases the number in the digits from `first` on.
std::string EndOfDigits(const std::string& begin, size_t first, double step) {
  const size_t count = begin.size() - first;
  const auto largest = static_cast<uint64_t>(std::pow(10, count)) - 1;
  const uint64_t later = Later(std::stoull(begin.substr(first)), step, largest);
  return begin.substr(0, first) + fmt::format("{:0{}}", later, count);
}

// The key at `share` of the way from `begin` to `next`, by the bytes after their common prefix.
std::string Between(const std::string& begin, const std::string& next, double share) {
  const auto differ = std::mismatch(begin.begin(), begin.end(), next.begin(), next.end()).first;
  const auto shared = static_cast<size_t>(differ - begin.begin());
  const uint64_t from = ReadBigEndian(std::string_view(begin).substr(shared));
  const uint64_t to = ReadBigEndian(std::string_view(next).substr(shared));
  return begin.substr(0, shared) + BigEndian(Later(from, share * static_cast<double>(to - from)));
}

// For keys that are not numbers: the set has half of `all`, so a range spans twice as many of `all`
// after its beginning, and ends between two of them.
std::string EndAmong(const std::vector<std::string>& all, const std::string& begin,
                     double expected_keys) {
  const auto at = std::upper_bound(all.begin(), all.end(), begin);
  const auto held = static_cast<ptrdiff_t>(2 * expected_keys);
  if (all.end() - at <= held) return all.back() + '\0';
  const std::string& last = held == 0 ? begin : *(at + held - 1);
  return Between(last, *(at + held), 2 * expected_keys - static_cast<double>(held));
}

void SortAndDropEqual(std::vector<std::string>& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

// A kind of keys made of numbers.
struct Numbered {
  std::function<std::string(Random& random)> make;
  std::function<std::string(const std::string& begin, double expected_keys)> end;
};

Numbered NumberedSet(std::string_view name, uint64_t num_keys) {
  const auto keys = static_cast<double>(num_keys);
  // A range spans `step` numbers for each expected key.
  const auto digits = [](size_t first, double step) {
    return [=](const std::string& begin, double expected) {
      return EndOfDigits(begin, first, expected * step);
    };
  };
  if (name == kIntegers) {
    return {[](Random& random) { return BigEndian(random()); },
            [=](const std::string& begin, double expected) {
              return BigEndian(Later(ReadBigEndian(begin), expected * 0x1p64 / keys));
            }};
  }
  if (name == kUsers) {
    return {
        [](Random& random) { return fmt::format("user{:016}", random() % 10'000'000'000'000'000); },
        digits(4, 1e16 / keys)};
  }
  if (name == kTenantTime) {
    return {[=](Random& random) {
              const uint64_t tenants = std::max<uint64_t>(1, num_keys / kKeysPerTenant);
              return fmt::format("u{:07}:{:013}", random() % tenants,
                                 kFirstMillisecond + random() % kTenantMilliseconds);
            },
            digits(9, static_cast<double>(kTenantMilliseconds) / kKeysPerTenant)};
  }
  Fail("there is no key set \"{}\"", name);
}

// `count` distinct keys.
std::vector<std::string> DrawKeys(const Numbered& numbered, uint64_t count, Random& random) {
  std::vector<std::string> keys;
  keys.reserve(count + count / 20);
  while (keys.size() < count) {
    while (keys.size() < keys.capacity()) keys.push_back(numbered.make(random));
    CheckInterrupt();
    SortAndDropEqual(keys);
  }
  return keys;
}

}  // namespace

const std::string* KeySet::Next(std::string_view from) const {
  const auto next = std::lower_bound(keys.begin(), keys.end(), from);
  return next == keys.end() ? nullptr : &*next;
}

bool KeySet::HasKeyIn(const Range& range) const {
  const std::string* const next = Next(range.begin);
  return next != nullptr && *next < range.end;
}

std::vector<std::string> PackagePaths() {
  const Input input = LoadDpkg();
  std::vector<std::string> paths;
  paths.reserve(input.rows.size());
  for (size_t i = 0; i < input.rows.size(); ++i) paths.emplace_back(input.rows.key(i));
  return paths;
}

KeySet MakeKeySet(std::string_view name, uint64_t num_keys, uint64_t seed) {
  Random random(seed);
  const bool is_numbered = name != kPaths;
  const Numbered numbered = is_numbered ? NumberedSet(name, num_keys) : Numbered();
  std::vector<std::string> all =
      is_numbered ? DrawKeys(numbered, 2 * num_keys, random) : PackagePaths();
  std::shuffle(all.begin(), all.end(), random);
  all.resize(std::min<size_t>(all.size(), 2 * num_keys) & ~size_t{1});
  const auto half = all.begin() + static_cast<ptrdiff_t>(all.size() / 2);
  KeySet set{std::string(name), {all.begin(), half}, {half, all.end()}, numbered.end};
  std::sort(set.keys.begin(), set.keys.end());
  if (!is_numbered) {
    std::sort(all.begin(), all.end());
    set.end = [all = std::move(all)](const std::string& begin, double expected) {
      return EndAmong(all, begin, expected);
    };
  }
  return set;
}

}  // namespace blocksieve::bench::ranges
