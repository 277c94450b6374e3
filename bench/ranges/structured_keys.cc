#include "bench/ranges/structured_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "bench/support/terminal.h"
#include "lib/base/coding.h"
#include "lib/prefix/prefix_part.h"
#include "lib/prefix/prefix_rule.h"

namespace blocksieve::bench::ranges {
namespace {

using Random = std::mt19937_64;

Range RangeBelow(std::string_view prefix) {
  Range range{std::string(prefix), std::string(prefix)};
  while (range.end.back() == '\xff') range.end.pop_back();
  ++range.end.back();
  return range;
}

std::string_view PrefixOf(std::string_view prefixes, const Range& range) {
  const Result<std::string> rule = internal::ParsePrefixRule(prefixes);
  return internal::PrefixOfRange(AsBytes(*rule), range.begin, range.end);
}

// Takes all keys below prefixes at random, up to a tenth of them, out of `keys`; returns seeks for
// what is below such a prefix.
Seeks Withhold(std::string name, std::string_view prefixes, size_t count, Random& random,
               SortedKeys* keys) {
  std::vector<std::string> all;
  for (const std::string& key : *keys) {
    for (const size_t length : BoundariesOf(prefixes, key)) all.push_back(key.substr(0, length));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::shuffle(all.begin(), all.end(), random);

  size_t left = keys->size() / 10;
  std::vector<Range> absent;
  for (const std::string& prefix : all) {
    const Range range = RangeBelow(prefix);
    const auto first = std::lower_bound(keys->begin(), keys->end(), range.begin);
    const auto last = std::lower_bound(first, keys->end(), range.end);
    const auto below = static_cast<size_t>(last - first);
    if (below == 0 || below > left / 2) continue;
    left -= below;
    keys->erase(first, last);
    absent.push_back(range);
    if (absent.size() == count) break;
    CheckInterrupt();
  }
  if (absent.empty()) Fail("{}: no prefix can be withheld", name);
  Seeks seeks{std::move(name), {}, 0};
  for (size_t i = 0; i < count; ++i) seeks.ranges.push_back(absent[i % absent.size()]);
  return seeks;
}

std::vector<SortedKeys> OneLevel(const SortedKeys& keys) {
  std::vector<SortedKeys> runs(kRuns);
  for (size_t i = 0; i < keys.size(); ++i) runs[i * kRuns / keys.size()].push_back(keys[i]);
  return runs;
}

StructuredKeys Paths(bool is_leveled, uint64_t num_keys, size_t num_seeks, Random& random) {
  SortedKeys keys = PackagePaths();
  keys.resize(std::min<uint64_t>(keys.size(), num_keys));
  std::sort(keys.begin(), keys.end());
  StructuredKeys set{is_leveled ? "paths, one level" : "paths", "delimiter:/", {}, {}};
  set.seeks.push_back(Withhold("absent directory", set.prefixes, num_seeks, random, &keys));
  set.runs = is_leveled ? OneLevel(keys) : RandomRuns(std::move(keys), random());
  set.num_compacted = is_leveled ? set.runs.size() : 0;
  return set;
}

// 500 events of each user, in 25 accounts.
StructuredKeys Events(uint64_t num_keys, size_t num_seeks, Random& random) {
  SortedKeys keys;
  const uint64_t users = std::max<uint64_t>(1, num_keys / 500 / 25);
  for (uint64_t i = 0; i < num_keys; ++i) {
    keys.push_back(fmt::format("{:05}:{:04}:{:012}", random() % 25 * 7, random() % users * 11,
                               random() % 1'000'000'000'000));
  }
  std::sort(keys.begin(), keys.end());
  StructuredKeys set{"account:user:event", "delimiter:%3A,depth:2", {}, {}};
  set.seeks = {Withhold("absent user", set.prefixes, num_seeks / 2, random, &keys),
               Withhold("absent account", "delimiter:%3A,depth:1", num_seeks / 2, random, &keys)};
  set.runs = RandomRuns(std::move(keys), random());
  return set;
}

// A hash of eight members for each user key, as Kvrocks lays them out outside clusters. Most are in
// one compacted run, the others in seven small ones.
StructuredKeys Members(uint64_t num_keys, size_t num_seeks, Random& random) {
  constexpr uint64_t kMembers = 8;
  constexpr uint64_t kInSmallRuns = 10;  // one object in ten
  StructuredKeys set{"members of hashes", "fields:len8,len32,8", {}, {}, 1};
  set.runs.resize(kRuns);
  Seeks absent{"absent hash", {}, 0}, present{"present hash", {}, kMembers};
  for (uint64_t i = 0; i < num_keys / kMembers; ++i) {
    const std::string user_key = fmt::format("h:{:012}", i);
    const std::string object = std::string("\x0b__namespace") +
                               BigEndian(static_cast<uint32_t>(user_key.size())) + user_key +
                               BigEndian(uint64_t{1'700'000'000'000'000} + random() % 1'000'000);
    Seeks& kind = random() % kInSmallRuns == 0 ? absent : present;
    if (kind.ranges.size() < num_seeks) kind.ranges.push_back(RangeBelow(object));
    if (&kind == &absent) continue;
    SortedKeys& run = set.runs[random() % kInSmallRuns == 0 ? 1 + random() % (kRuns - 1) : 0];
    for (uint64_t member = 0; member < kMembers; ++member) {
      run.push_back(object + fmt::format("field:{:02}", member));
    }
  }
  std::shuffle(present.ranges.begin(), present.ranges.end(), random);
  set.seeks = {std::move(absent), std::move(present)};
  return set;
}

// 1,000 times of each tenant.
StructuredKeys TenantTimes(uint64_t num_keys, size_t num_seeks, Random& random) {
  SortedKeys keys;
  const auto tenants = static_cast<uint32_t>(std::max<uint64_t>(20, num_keys / 1'000));
  const auto draw = [&] {
    return BigEndian(static_cast<uint32_t>(random() % tenants)) +
           BigEndian(static_cast<uint32_t>(random()));
  };
  for (uint64_t i = 0; i < num_keys; ++i) keys.push_back(draw());
  std::sort(keys.begin(), keys.end());
  StructuredKeys set{"tenant | time", "lengths:4", {}, {}};
  set.seeks.push_back(Withhold("absent tenant", set.prefixes, num_seeks, random, &keys));
  Seeks within{"short range of a tenant", {}, 0};
  while (within.ranges.size() < num_seeks) {
    Range range{draw(), ""};
    range.end = range.begin.substr(0, 7) + '\xff';
    const auto next = std::lower_bound(keys.begin(), keys.end(), range.begin);
    if (range.begin < range.end && (next == keys.end() || *next >= range.end)) {
      within.ranges.push_back(std::move(range));
    }
  }
  set.seeks.push_back(std::move(within));
  set.runs = RandomRuns(std::move(keys), random());
  return set;
}

StructuredKeys WithoutStructure(uint64_t num_keys, Random& random) {
  SortedKeys keys;
  for (uint64_t i = 0; i < num_keys; ++i) keys.push_back(BigEndian(random()) + BigEndian(random()));
  StructuredKeys set{"16 random bytes", "auto", {}, {}};
  set.runs = RandomRuns(std::move(keys), random());
  return set;
}

}  // namespace

uint64_t StructuredKeys::num_keys() const {
  uint64_t keys = 0;
  for (const SortedKeys& run : runs) keys += run.size();
  return keys;
}

std::vector<StructuredKeys> MakeStructuredKeys(uint64_t num_keys, size_t num_seeks, uint64_t seed) {
  Random random(seed);
  std::vector<StructuredKeys> sets;
  sets.push_back(Paths(false, num_keys, num_seeks, random));
  sets.push_back(Paths(true, num_keys, num_seeks, random));
  sets.push_back(Events(num_keys, num_seeks, random));
  sets.push_back(Members(num_keys, num_seeks, random));
  sets.push_back(TenantTimes(num_keys, num_seeks, random));
  sets.push_back(WithoutStructure(num_keys, random));
  return sets;
}

std::vector<size_t> BoundariesOf(std::string_view prefixes, std::string_view key) {
  const Result<std::string> rule = internal::ParsePrefixRule(prefixes);
  if (!rule.ok()) return {};  // "auto"
  internal::PrefixLengths lengths;
  if (!internal::FindPrefixes(AsBytes(*rule), key, &lengths)) Fail("{}: bad prefixes", prefixes);
  return {lengths.all().begin(), lengths.all().end()};
}

size_t DepthOf(std::string_view prefixes, const Range& range) {
  return BoundariesOf(prefixes, PrefixOf(prefixes, range)).size();
}

double RunsWithPrefix(const StructuredKeys& set, const Seeks& seeks, size_t depth) {
  uint64_t found = 0;
  for (const Range& range : seeks.ranges) {
    const std::string_view prefix = PrefixOf(set.prefixes, range);
    const std::vector<size_t> ends = BoundariesOf(set.prefixes, prefix);
    if (ends.empty() || ends.size() < depth) {
      found += set.runs.size();
      continue;
    }
    found += RunsWith(prefix.substr(0, depth == 0 ? ends.back() : ends[depth - 1]), set.runs);
  }
  return static_cast<double>(found) / static_cast<double>(seeks.ranges.size());
}

}  // namespace blocksieve::bench::ranges
