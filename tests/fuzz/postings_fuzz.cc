#include "lib/postings/postings.h"

#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "tests/fuzz/fuzz.h"

// Postings of any hashes, including ones that no hash function returns, contain every granule that
// has a value, and no other outside its group. Any bytes can be opened as postings and queried: no
// granule after the last is returned.

namespace blocksieve::internal {
namespace {

using blocksieve::testing::Input;
using blocksieve::testing::Require;

GranuleSet GranulesOf(const Postings& postings, size_t num_granules, uint64_t hash) {
  GranuleSet set = GranuleSet::All(num_granules);
  postings.PruneByAny({&hash, 1}, &set);
  if (num_granules % 64 != 0) {
    Require(set.words().back() >> (num_granules % 64) == 0,
            "no granule after the last is returned");
  }
  return set;
}

void OpenAnyBytes(size_t num_granules, Input* input) {
  std::vector<uint64_t> hashes(4);
  for (uint64_t& hash : hashes) hash = input->Number<uint64_t>();
  // A copy in memory of exactly its size.
  std::vector<uint8_t> bytes;
  while (!input->empty()) bytes.push_back(input->Number<uint8_t>());
  Postings postings;
  if (!postings.Open(bytes, num_granules)) return;
  for (const uint64_t hash : hashes) GranulesOf(postings, num_granules, hash);
  GranuleSet set = GranuleSet::All(num_granules);
  postings.PruneByAny(hashes, &set);
}

/// A hash from a small or large set, similar to others or not.
uint64_t AnyHash(Input* input) {
  const size_t kind = input->Below(4);
  if (kind == 0) return input->Number<uint8_t>();
  if (kind == 1) return input->Number<uint64_t>();
  uint64_t hash = input->Number<uint16_t>();
  if (kind == 2) hash %= 16;
  return (hash + 1) * 0xd1342543de82ef95;
}

void BuildAndAsk(size_t num_granules, Input* input) {
  constexpr double kFprs[] = {0.001, 0.5, 0.1, 0.01, 1e-7};
  const double target_fpr = kFprs[input->Below(std::size(kFprs))];
  std::vector<std::set<uint64_t>> values(num_granules);
  std::map<uint64_t, std::set<size_t>> granules;
  const auto add = [&](uint64_t hash, size_t granule) {
    values[granule].insert(hash);
    granules[hash].insert(granule);
  };
  while (!input->empty()) {
    const uint64_t hash = AnyHash(input);
    const size_t first = input->Number<uint16_t>() % num_granules;
    const size_t count = 1 + (input->Flag() ? input->Number<uint8_t>() : 0);
    const size_t distance = 1 + input->Below(8);
    for (size_t i = 0; i < count; ++i) add(hash, (first + i * distance) % num_granules);
    // And unique values, as in columns that are nearly unique.
    for (size_t i = input->Below(4) == 0 ? 50 : 0; i > 0; --i) {
      add((hash + i) * 0x9e3779b97f4a7c15, (first + i) % num_granules);
    }
  }
  PostingLog log;
  for (const std::set<uint64_t>& of_granule : values) {
    log.AddGranule(std::vector<uint64_t>(of_granule.begin(), of_granule.end()));
  }
  const SortedPostings sorted(std::move(log));
  std::string bytes;
  if (!AppendPostings(sorted, CountPostings(sorted), target_fpr, &bytes)) return;
  const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
  Postings postings;
  Require(postings.Open(exact, num_granules), "built postings can be opened");
  const uint64_t group = postings.group_granules();
  for (const auto& [hash, right] : granules) {
    const GranuleSet given = GranulesOf(postings, num_granules, hash);
    for (const size_t granule : right) Require(given.Has(granule), "no granule is lost");
    const bool may_be_group = *right.begin() / group == *right.rbegin() / group;
    Require(given.Count() == right.size() || (may_be_group && given.Count() <= group),
            "only granules of the value's group are returned");
  }
}

}  // namespace
}  // namespace blocksieve::internal

void blocksieve::testing::TestOneInput(ByteView bytes) {
  Input input(bytes);
  const bool builds = input.Flag();
  const size_t num_granules = 1 + input.Number<uint16_t>() % 2'000;
  if (builds) {
    internal::BuildAndAsk(num_granules, &input);
  } else {
    internal::OpenAnyBytes(num_granules, &input);
  }
}
