#include "bench/ranges/key_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
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

std::string BigEndian(uint64_t number) {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> (56 - 8 * i));
  return bytes;
}

uint64_t ReadBigEndian(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < 8; ++i) {
    number = number << 8 | (i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0);
  }
  return number;
}

// At least 1 more, at most the largest.
uint64_t Later(uint64_t number, double step, uint64_t largest = UINT64_MAX) {
  const uint64_t room = largest - number;
  if (step >= static_cast<double>(room)) return largest;
  return number + std::max<uint64_t>(1, static_cast<uint64_t>(step));
}

std::string EndOfBinary(const std::string& begin, double step) {
  return BigEndian(Later(ReadBigEndian(begin), step)) + begin.substr(8);
}

// The number in `count` digits from `first` on, dashes between them left out, becomes larger.
std::string EndOfDigits(const std::string& begin, size_t first, size_t count, int base,
                        double step) {
  std::string digits;
  for (size_t at = first; digits.size() < count; ++at) {
    if (begin[at] != '-') digits += begin[at];
  }
  const auto largest = static_cast<uint64_t>(std::pow(base, count)) - 1;
  const uint64_t later = Later(std::stoull(digits, nullptr, base), step, largest);
  digits = base == 16 ? fmt::format("{:0{}x}", later, count) : fmt::format("{:0{}}", later, count);
  std::string end = begin;
  for (size_t at = first, i = 0; i < count; ++at) {
    if (end[at] != '-') end[at] = digits[i++];
  }
  return end;
}

std::string Uuid(uint64_t high, uint64_t low) {
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffff'ffff'ffff);
}

constexpr uint64_t kUuidVariant = uint64_t{1} << 63;  // in the low half; the bit after it is 0
constexpr uint64_t kUuidVariantMask = ~(uint64_t{3} << 62);

uint64_t UuidHigh(uint64_t time, uint64_t version, uint64_t random) {
  return time << 16 | version << 12 | (random & 0xfff);
}

// Pages of sites, some of which have many.
std::string MakeUrl(Random& random) {
  constexpr const char* kSections[] = {"about", "articles", "blog", "docs",  "en",
                                       "forum", "help",     "news", "tag",   "users",
                                       "shop",  "wiki",     "p",    "media", "archive"};
  const uint64_t site = Zipfian(20'000, std::generate_canonical<double, 53>(random));
  const uint64_t bits = random();
  return fmt::format("https://www.site{}.example/{}/{:x}-{}.html", site * 7919 % 20'000,
                     kSections[bits % std::size(kSections)],
                     static_cast<uint32_t>(random()) >> (bits >> 8 & 7), bits >> 40 & 0xffff);
}

std::vector<std::string> Paths() {
  const Input input = LoadDpkg(kDpkgInfoDir, {});
  std::vector<std::string> paths;
  paths.reserve(input.rows.size());
  for (size_t i = 0; i < input.rows.size(); ++i) paths.emplace_back(input.rows.key(i));
  return paths;
}

// The key at `share` of the way from `begin` to `next`, by the bytes after those that they share.
std::string Between(const std::string& begin, const std::string& next, double share) {
  const auto differ = std::mismatch(begin.begin(), begin.end(), next.begin(), next.end()).first;
  const auto shared = static_cast<size_t>(differ - begin.begin());
  const uint64_t from = ReadBigEndian(std::string_view(begin).substr(shared));
  const uint64_t to = ReadBigEndian(std::string_view(next).substr(shared));
  return begin.substr(0, shared) + BigEndian(Later(from, share * static_cast<double>(to - from)));
}

// For keys that are no numbers: half of `all` are in the set, so a range holds twice as many of
// `all` after its beginning, and ends on the way to the next one.
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

// Keys made of numbers.
struct Numbered {
  std::function<std::string(Random& random)> make;
  std::function<std::string(const std::string& begin, double expected_keys)> end;
};

Numbered NumberedSet(std::string_view name, uint64_t num_keys) {
  const auto keys = static_cast<double>(num_keys);
  // The end is `step` numbers of this many digits for each expected key.
  const auto digits = [](size_t first, size_t count, int base, double step) {
    return [=](const std::string& begin, double expected) {
      return EndOfDigits(begin, first, count, base, expected * step);
    };
  };
  const auto binary = [](double step) {
    return [=](const std::string& begin, double expected) {
      return EndOfBinary(begin, expected * step);
    };
  };
  const auto uuid = [](uint64_t time, uint64_t version, Random& random) {
    return Uuid(UuidHigh(time, version, random()), (random() & kUuidVariantMask) | kUuidVariant);
  };
  if (name == kIntegers) {
    return {[](Random& random) { return BigEndian(random()); }, binary(0x1p64 / keys)};
  }
  if (name == kUsers) {
    return {
        [](Random& random) { return fmt::format("user{:016}", random() % 10'000'000'000'000'000); },
        digits(4, 16, 10, 1e16 / keys)};
  }
  if (name == kTimeId) {  // a key per millisecond, on average; microseconds
    return {[=](Random& random) {
              const uint64_t time = 1'000 * kFirstMillisecond + random() % (1'000 * num_keys);
              return BigEndian(time) + BigEndian(random()).substr(4);
            },
            binary(1e3)};
  }
  if (name == kTenantTime) {
    return {[=](Random& random) {
              const uint64_t tenants = std::max<uint64_t>(1, num_keys / kKeysPerTenant);
              return fmt::format("u{:07}:{:013}", random() % tenants,
                                 kFirstMillisecond + random() % kTenantMilliseconds);
            },
            digits(9, 13, 10, static_cast<double>(kTenantMilliseconds) / kKeysPerTenant)};
  }
  if (name == kUuid4) {
    return {[=](Random& random) { return uuid(random() >> 16, 4, random); },
            digits(0, 12, 16, 0x1p48 / keys)};
  }
  if (name == kUuid7) {  // one per second, on average
    return {[=](Random& random) {
              return uuid(kFirstMillisecond + random() % (1'000 * num_keys), 7, random);
            },
            digits(0, 12, 16, 1e3)};
  }
  return {};
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

std::vector<std::string> KeySetNames() {
  return {kIntegers, kUsers, kTimeId, kTenantTime, kUuid4, kUuid7, kUrls, kPaths};
}

KeySet MakeKeySet(std::string_view name, uint64_t num_keys, uint64_t seed) {
  Random random(seed);
  KeySet set;
  set.name = name;
  std::vector<std::string> all;
  const Numbered numbered = NumberedSet(name, num_keys);
  std::function<std::string(Random&)> make = numbered.make;
  if (name == kUrls) make = MakeUrl;
  if (make) {
    all.reserve(2 * num_keys + num_keys / 10);
    while (all.size() < 2 * num_keys) {
      while (all.size() < all.capacity()) all.push_back(make(random));
      CheckInterrupt();
      SortAndDropEqual(all);
    }
  } else if (name == kPaths) {
    all = Paths();
  } else {
    Fail("there is no key set \"{}\"", name);
  }
  std::shuffle(all.begin(), all.end(), random);
  all.resize(std::min<size_t>(all.size(), 2 * num_keys) & ~size_t{1});
  const auto half = all.begin() + static_cast<ptrdiff_t>(all.size() / 2);
  set.keys.assign(all.begin(), half);
  set.others.assign(half, all.end());
  std::sort(set.keys.begin(), set.keys.end());
  set.end = numbered.end;
  if (!set.end) {
    std::sort(all.begin(), all.end());
    set.end = [shared = std::make_shared<const std::vector<std::string>>(std::move(all))](
                  const std::string& begin, double expected) {
      return EndAmong(*shared, begin, expected);
    };
  }
  return set;
}

uint64_t Zipfian(uint64_t count, double uniform) {
  constexpr double kExponent = 0.01;  // 1 - 0.99
  const auto n = static_cast<double>(count);
  const double x = std::pow(1 + uniform * (std::pow(n + 1, kExponent) - 1), 1 / kExponent);
  return std::min(count - 1, static_cast<uint64_t>(x - 1));
}

}  // namespace blocksieve::bench::ranges
