// SPDX-License-Identifier: Apache-2.0
#include "bench/ranges/datasets.h"

#include <algorithm>
#include <limits>

#include "bench/support/inputs.h"
#include "bench/support/keys.h"
#include "bench/support/measure.h"
#include "lib/base/coding.h"
#include "lib/prefix/prefix_rule.h"
#include "lib/prefix/prefix_section.h"

namespace blocksieve::bench::ranges {
namespace {

constexpr size_t kMaxPrefixBytes = 8;  // integers have no more

bool HasKeyIn(const SortedKeys& keys, const Range& range) {
  const auto next = std::lower_bound(keys.begin(), keys.end(), range.begin);
  return next != keys.end() && *next < range.end;
}

// Empty ranges, as long as those that hold `expected_keys` keys on average. They begin anywhere, or
// right after keys.
std::vector<Range> EmptyRanges(const SortedKeys& keys, double expected_keys, bool are_after_keys,
                               size_t count, Random& random) {
  std::vector<Range> ranges;
  while (ranges.size() < count) {
    const std::string& key = keys[random() % keys.size()];
    Range range =
        IntegerRange(are_after_keys ? key : BigEndian(random()), expected_keys, keys.size());
    if (are_after_keys) range.begin += '\0';
    if (range.begin < range.end && !HasKeyIn(keys, range)) ranges.push_back(std::move(range));
  }
  return ranges;
}

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

Dataset Paths(bool is_leveled, uint64_t num_keys, size_t num_seeks, Random& random) {
  const Input input = LoadDpkg();
  SortedKeys keys;
  for (size_t i = 0; i < input.rows.size(); ++i) keys.emplace_back(input.rows.key(i));
  keys.resize(std::min<uint64_t>(keys.size(), num_keys));
  std::sort(keys.begin(), keys.end());
  Dataset set{is_leveled ? "paths, one level" : "paths", "delimiter:/", {}, {}};
  set.seeks.push_back(Withhold("absent directory", set.prefixes, num_seeks, random, &keys));
  set.runs = is_leveled ? OneLevel(keys) : RandomRuns(std::move(keys), random());
  set.num_compacted = is_leveled ? set.runs.size() : 0;
  return set;
}

// 500 events of each user, in 25 accounts.
Dataset Events(uint64_t num_keys, size_t num_seeks, Random& random) {
  SortedKeys keys;
  const uint64_t users = std::max<uint64_t>(1, num_keys / 500 / 25);
  for (uint64_t i = 0; i < num_keys; ++i) {
    keys.push_back(fmt::format("{:05}:{:04}:{:012}", random() % 25 * 7, random() % users * 11,
                               random() % 1'000'000'000'000));
  }
  std::sort(keys.begin(), keys.end());
  Dataset set{"account:user:event", "delimiter:%3A,depth:2", {}, {}};
  set.seeks = {Withhold("absent user", set.prefixes, num_seeks / 2, random, &keys),
               Withhold("absent account", "delimiter:%3A,depth:1", num_seeks / 2, random, &keys)};
  set.runs = RandomRuns(std::move(keys), random());
  return set;
}

// A hash of eight members for each user key, as Kvrocks lays them out outside clusters. Most are in
// one compacted run, the others in seven small ones.
Dataset Members(uint64_t num_keys, size_t num_seeks, Random& random) {
  constexpr uint64_t kMembers = 8;
  constexpr uint64_t kInSmallRuns = 10;  // one object in ten
  Dataset set{"members of hashes", "fields:len8,len32,8", {}, {}, 1};
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
Dataset TenantTimes(uint64_t num_keys, size_t num_seeks, Random& random) {
  SortedKeys keys;
  const auto tenants = static_cast<uint32_t>(std::max<uint64_t>(20, num_keys / 1'000));
  const auto draw = [&] {
    return BigEndian(static_cast<uint32_t>(random() % tenants)) +
           BigEndian(static_cast<uint32_t>(random()));
  };
  for (uint64_t i = 0; i < num_keys; ++i) keys.push_back(draw());
  std::sort(keys.begin(), keys.end());
  Dataset set{"tenant | time", "lengths:4", {}, {}};
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

Dataset WithoutStructure(uint64_t num_keys, Random& random) {
  SortedKeys keys;
  for (uint64_t i = 0; i < num_keys; ++i) keys.push_back(BigEndian(random()) + BigEndian(random()));
  Dataset set{"16 random bytes", "auto", {}, {}};
  set.runs = RandomRuns(std::move(keys), random());
  return set;
}

}  // namespace

SortedKeys Dataset::AllKeys() const {
  SortedKeys keys;
  for (const SortedKeys& run : runs) keys.insert(keys.end(), run.begin(), run.end());
  std::sort(keys.begin(), keys.end());
  return keys;
}

Range IntegerRange(const std::string& begin, double expected_keys, uint64_t num_keys) {
  uint64_t number = 0;
  for (const char byte : begin) number = number << 8 | static_cast<uint8_t>(byte);
  const double step = expected_keys * 0x1p64 / static_cast<double>(num_keys);
  const uint64_t left = UINT64_MAX - number;
  const bool is_last = step >= static_cast<double>(left);
  return {begin, BigEndian(number +
                           (is_last ? left : std::max<uint64_t>(1, static_cast<uint64_t>(step))))};
}

Dataset Integers(uint64_t num_keys, size_t num_seeks, uint64_t seed) {
  Random random(seed);
  SortedKeys keys;
  for (uint64_t i = 0; i < num_keys; ++i) keys.push_back(BigEndian(random()));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  Dataset set{"8-byte integers", "", {}, {{"all lengths", {}, 0}}};
  for (const double length : {0.001, 0.01, 0.1, 1.0}) {
    set.seeks.push_back({length == 1 ? "1 key" : fmt::format("{:g} keys", length),
                         EmptyRanges(keys, length, false, num_seeks, random)});
  }
  for (size_t i = 0; i < num_seeks; ++i) {
    set.seeks[0].ranges.push_back(set.seeks[1 + i % 4].ranges[i]);
  }
  set.seeks.push_back({"right after a key", EmptyRanges(keys, 0.01, true, num_seeks, random)});
  Seeks found{"only key is the last", {}, 1};
  while (found.ranges.size() < num_seeks) {
    const std::string begin = BigEndian(random());
    const auto next = std::lower_bound(keys.begin(), keys.end(), begin);
    if (next != keys.end()) found.ranges.push_back({begin, *next + '\0'});
  }
  set.seeks.push_back(std::move(found));
  set.runs = RandomRuns(std::move(keys), random());
  return set;
}

std::vector<Dataset> StructuredKeys(uint64_t num_keys, size_t num_seeks, uint64_t seed) {
  Random random(seed);
  std::vector<Dataset> sets;
  sets.push_back(Paths(false, num_keys, num_seeks, random));
  sets.push_back(Paths(true, num_keys, num_seeks, random));
  sets.push_back(Events(num_keys, num_seeks, random));
  sets.push_back(Members(num_keys, num_seeks, random));
  sets.push_back(TenantTimes(num_keys, num_seeks, random));
  sets.push_back(WithoutStructure(num_keys, random));
  return sets;
}

std::vector<SortedKeys> RandomRuns(SortedKeys keys, uint64_t seed) {
  std::shuffle(keys.begin(), keys.end(), Random(seed));
  std::vector<SortedKeys> runs(kRuns);
  for (size_t i = 0; i < keys.size(); ++i) runs[i % kRuns].push_back(std::move(keys[i]));
  for (SortedKeys& run : runs) std::sort(run.begin(), run.end());
  return runs;
}

std::vector<size_t> BoundariesOf(std::string_view prefixes, std::string_view key) {
  const Result<std::string> rule = internal::ParsePrefixRule(prefixes);
  if (!rule.ok()) return {};  // "auto"
  internal::PrefixLengths lengths;
  if (!internal::FindPrefixes(AsBytes(*rule), key, &lengths)) Fail("{}: bad prefixes", prefixes);
  return {lengths.all().begin(), lengths.all().end()};
}

std::string_view PrefixRule::Of(std::string_view key) const {
  if (prefixes.empty()) return key.substr(0, length);
  const std::vector<size_t> ends = BoundariesOf(prefixes, key);
  return key.substr(0, ends.size() < length ? 0 : ends[length - 1]);
}

bool PrefixRule::Covers(const Range& range) const {
  if (prefixes.empty()) return Of(range.begin) == Of(range.end);
  return BoundariesOf(prefixes, PrefixOf(prefixes, range)).size() >= length;
}

double PrefixRule::IdealBlocks(const Dataset& dataset, const Seeks& seeks) const {
  uint64_t blocks = 0;  // runs that hold a key with the prefix of the range
  for (const Range& range : seeks.ranges) {
    const std::string_view prefix = Covers(range) ? Of(range.begin) : std::string_view();
    blocks += static_cast<uint64_t>(std::ranges::count_if(dataset.runs, [&](const auto& run) {
      const auto first = std::lower_bound(run.begin(), run.end(), prefix);
      return first != run.end() && first->starts_with(prefix);
    }));
  }
  return Ratio(blocks, seeks.ranges.size());
}

PrefixRule BestRule(const Dataset& dataset) {
  PrefixRule best{dataset.prefixes, 1};
  double fewest = std::numeric_limits<double>::infinity();
  const size_t longest = dataset.prefixes.empty() ? kMaxPrefixBytes : kMaxPrefixes;
  for (size_t length = 1; length <= longest; ++length) {
    const PrefixRule rule{dataset.prefixes, length};
    double blocks = 0;
    for (const Seeks& seeks : dataset.seeks) {
      blocks += rule.IdealBlocks(dataset, seeks);
      if (dataset.prefixes.empty()) break;  // the first has all lengths
    }
    if (blocks < fewest) best = rule;
    fewest = std::min(fewest, blocks);
  }
  return best;
}

}  // namespace blocksieve::bench::ranges
