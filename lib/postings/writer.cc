// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/base/block_memory.h"
#include "lib/postings/posting.h"
#include "lib/postings/postings.h"

namespace blocksieve::internal {
namespace {

// Radix sort by the highest bits of a hash, and by two digits below them.
constexpr unsigned kTopBits = 11;
constexpr unsigned kDigitBits = 8;
constexpr unsigned kSecondShift = 64 - kTopBits - kDigitBits;
constexpr unsigned kThirdShift = kSecondShift - kDigitBits;

size_t TopOf(const uint64_t hash) noexcept { return static_cast<size_t>(hash >> (64 - kTopBits)); }

template <unsigned kShift>
size_t DigitOf(const Posting& posting) noexcept {
  return static_cast<size_t>(posting.hash >> kShift & ((1u << kDigitBits) - 1));
}

/// Number of hashes with each value of a digit; then the offset of the next one.
template <unsigned kBits>
using Offsets = std::array<size_t, size_t{1} << kBits>;

template <unsigned kBits>
void MakeOffsets(Offsets<kBits>* counts) noexcept {
  size_t sum = 0;
  for (size_t& count : *counts) sum += std::exchange(count, sum);
}

bool Before(const Posting& a, const Posting& b) noexcept { return a.hash < b.hash; }

/// Stable; fast for few or sorted postings.
void SortFew(std::span<Posting> few) {
  constexpr size_t kInserted = 32;
  if (std::is_sorted(few.begin(), few.end(), &Before)) return;
  if (few.size() > kInserted) return std::stable_sort(few.begin(), few.end(), &Before);
  for (size_t i = 1; i < few.size(); ++i) {
    const Posting posting = few[i];
    size_t to = i;
    for (; to > 0 && posting.hash < few[to - 1].hash; --to) few[to] = few[to - 1];
    few[to] = posting;
  }
}

/// Sorts postings with equal highest bits: by two further digits, which are nearly distinct, then
/// the postings with equal digits. Stable.
void SortBucket(std::span<Posting> bucket, size_t max_scratch, std::vector<Posting>* scratch) {
  constexpr size_t kFew = 64;
  if (bucket.size() <= kFew || std::is_sorted(bucket.begin(), bucket.end(), &Before)) {
    return SortFew(bucket);
  }
  // Sorting by both members is stable without further memory.
  if (bucket.size() > max_scratch) {
    return std::sort(bucket.begin(), bucket.end(), [](const Posting& a, const Posting& b) {
      return a.hash != b.hash ? a.hash < b.hash : a.granule < b.granule;
    });
  }
  Offsets<kDigitBits> second{};
  Offsets<kDigitBits> third{};
  for (const Posting& posting : bucket) {
    ++second[DigitOf<kSecondShift>(posting)];
    ++third[DigitOf<kThirdShift>(posting)];
  }
  MakeOffsets<kDigitBits>(&second);
  MakeOffsets<kDigitBits>(&third);
  if (scratch->size() < bucket.size()) scratch->resize(bucket.size());
  for (const Posting& posting : bucket)
    (*scratch)[third[DigitOf<kThirdShift>(posting)]++] = posting;
  for (const Posting& posting : std::span(*scratch).first(bucket.size())) {
    bucket[second[DigitOf<kSecondShift>(posting)]++] = posting;
  }
  for (size_t first = 0, last = 0; first < bucket.size(); first = last) {
    const uint64_t digits = bucket[first].hash >> kThirdShift;
    while (last < bucket.size() && bucket[last].hash >> kThirdShift == digits) ++last;
    SortFew(bucket.subspan(first, last - first));
  }
}

/// Values are nearly unique if they are in fewer granules on average.
constexpr double kNearlyUnique = 1.3;

/// False positive granules for a value that does not occur, even if the target allows more: a query
/// probes all files, and its value occurs in few of them. Halving it costs a bit per value.
constexpr double kFewFalsePositives = 0.15;

constexpr uint32_t kMaxCheckBits = kMaxRibbonColumns - 1;

/// Bits of a ribbon besides those of its values: parameters, and half a word for each column.
double FixedBits(double columns) { return 64 + 16 * columns; }

uint32_t BitsFor(double count) {
  return static_cast<uint32_t>(std::max(1.0, std::ceil(std::log2(count))));
}

/// Chooses the groups of the ribbon, of up to `max_group` granules. For values that do not occur,
/// returns the granules that a value gets from ribbons, and the share that is looked up in the
/// dictionary.
std::pair<double, double> PlanRibbons(double granules, double max_group, PostingsPlan* plan) {
  const bool marks_dictionary = plan->num_ribbons == 1;  // by a number above all groups
  plan->group_bits = BitsFor(std::ceil(granules / max_group) + marks_dictionary);
  const double numbers = std::ldexp(1, static_cast<int>(plan->group_bits));
  const double group = std::ceil(granules / (numbers - marks_dictionary));
  plan->group_granules = static_cast<uint64_t>(group);
  const double passing =
      std::ldexp(marks_dictionary ? 1 : 0.5, -static_cast<int>(plan->check_bits));
  const double share_of_groups = granules / (numbers * group);
  return {passing * share_of_groups * group,
          marks_dictionary ? passing * (1 - share_of_groups) : 0.5};
}

/// Completes a plan with its ribbons and check bits. A value that does not occur gets at most
/// `max_false_positives` granules. Returns a plan with infinite bits if it is not possible.
PostingsPlan MakePlan(const PostingCounts& counts, PostingsPlan plan, double max_group,
                      double max_false_positives) {
  double values = counts.values;  // in the dictionary
  double pairs = counts.pairs;
  double from_ribbons = 0;
  double share_in_dictionary = 1;
  if (plan.num_ribbons == 0) {
    plan.bits = counts.list_bits + counts.singles * std::log2(counts.granules);
  } else {
    std::tie(from_ribbons, share_in_dictionary) = PlanRibbons(counts.granules, max_group, &plan);
    values -= counts.singles;
    pairs -= counts.singles;
    const double columns = plan.columns();
    plan.bits = counts.list_bits + FixedBits(columns);
    plan.bits += plan.num_ribbons == 1 ? counts.values * columns
                                       : FixedBits(1) + counts.values + counts.singles * columns;
  }
  const double left = max_false_positives - from_ribbons;
  if (left <= 0 || plan.columns() > kMaxRibbonColumns) {
    plan.bits = std::numeric_limits<double>::infinity();
    return plan;
  }
  plan.remainder_bits = RemainderBits(share_in_dictionary * pairs / std::max(1.0, values), left);
  // Two bits for the position of a remainder, about three for seeds, offsets and a count.
  plan.bits += values * (plan.remainder_bits - DictionaryShape::kBucketBits + 5);
  return plan;
}

/// The smallest plan with at most this many false positives.
PostingsPlan SmallestPlan(const PostingCounts& counts, double max_group, double false_positives) {
  PostingsPlan best = MakePlan(counts, {}, 1, false_positives);
  for (const uint32_t num_ribbons : {1u, 2u}) {
    for (uint32_t check_bits = 0; check_bits <= kMaxCheckBits && counts.singles > 0; ++check_bits) {
      const PostingsPlan plan =
          MakePlan(counts, {.num_ribbons = num_ribbons, .check_bits = check_bits}, max_group,
                   false_positives);
      if (plan.bits < best.bits) best = plan;
    }
  }
  return best;
}

/// Appends each value to its ribbon or to the dictionary, as planned, one after the other: each
/// takes memory for all its values. False if it fails; `out` is then undefined.
bool AppendPlanned(const PostingsPlan& plan, const SortedPostings& postings, std::string* out) {
  const std::span<const Posting> all = postings.all();
  const uint64_t num_granules = postings.num_granules();
  const auto group_of = [&](const Posting& posting) {
    return posting.granule / plan.group_granules;
  };
  const auto is_single = [&](PostingList list) {
    return plan.num_ribbons != 0 && group_of(list.front()) == group_of(list.back());
  };
  uint64_t num_values = 0;
  uint64_t num_singles = 0;
  ForEachList(all, [&](PostingList list) {
    ++num_values;
    num_singles += is_single(list);
  });
  out->push_back(static_cast<char>(plan.num_ribbons));
  if (plan.num_ribbons != 0) {
    AppendVarint(out, plan.group_granules);
    out->push_back(static_cast<char>(plan.check_bits));
  }
  if (plan.num_ribbons == 2) {
    RetrievalWriter singles(num_values, 1);
    ForEachList(all,
                [&](PostingList list) { singles.Add(list.front().hash, is_single(list) ? 1 : 0); });
    if (!singles.Append(out)) return false;
  }
  if (plan.num_ribbons != 0) {
    const bool has_all = plan.num_ribbons == 1;
    // The first number above all groups marks values of the dictionary.
    const uint64_t in_dictionary = (num_granules + plan.group_granules - 1) / plan.group_granules;
    RetrievalWriter groups(has_all ? num_values : num_singles, plan.columns());
    ForEachList(all, [&](PostingList list) {
      const bool single = is_single(list);
      if (!single && !has_all) return;
      const uint64_t hash = list.front().hash;
      const uint64_t group = single ? group_of(list.front()) : in_dictionary;
      groups.Add(hash, static_cast<uint32_t>(group << plan.check_bits |
                                             (RibbonFingerprint(hash) & LowBits(plan.check_bits))));
    });
    if (!groups.Append(out)) return false;
  }
  std::vector<PostingList> others;
  others.reserve(static_cast<size_t>(num_values - num_singles));
  ForEachList(all, [&](PostingList list) {
    if (!is_single(list)) others.push_back(list);
  });
  return AppendDictionary(others, num_granules, plan.num_ribbons == 0 ? 1 : 2, plan.remainder_bits,
                          out);
}

}  // namespace

void PostingLog::AddGranule(std::span<const uint64_t> hashes) {
  // Memory first: if it is short, nothing has changed.
  while (chunks_.size() * kChunkHashes < num_hashes_ + hashes.size()) {
    chunks_.push_back(std::unique_ptr<uint64_t[]>(new uint64_t[kChunkHashes]));
  }
  counts_.push_back(static_cast<uint32_t>(hashes.size()));
  while (!hashes.empty()) {
    const size_t at = static_cast<size_t>(num_hashes_) % kChunkHashes;
    const size_t count = std::min(hashes.size(), kChunkHashes - at);
    std::copy_n(hashes.begin(), count,
                chunks_[static_cast<size_t>(num_hashes_) / kChunkHashes].get() + at);
    num_hashes_ += count;
    hashes = hashes.subspan(count);
  }
}

SortedPostings::SortedPostings(PostingLog log)
    : num_granules_(log.num_granules()),
      size_(static_cast<size_t>(log.num_hashes())),
      postings_(new Posting[size_]) {
  PreferHugePages(postings_.get(), size_ * sizeof(Posting));  // filled in random order
  Offsets<kTopBits> offsets{};
  log.ForEach([&](uint64_t hash, uint32_t) { ++offsets[TopOf(hash)]; });
  MakeOffsets<kTopBits>(&offsets);
  log.ForEach([&](uint64_t hash, uint32_t granule) {
    postings_[offsets[TopOf(hash)]++] = {hash, granule};
  });
  log = {};
  // Each offset is now the end of its hashes, which fit the cache.
  constexpr size_t kSmall = 4096;
  const size_t max_scratch = std::max(kSmall, size_ / 16);
  std::vector<Posting> scratch;
  size_t begin = 0;
  for (const size_t end : offsets) {
    SortBucket({postings_.get() + begin, end - begin}, max_scratch, &scratch);
    begin = end;
  }
  const auto same = [](const Posting& a, const Posting& b) {
    return a.hash == b.hash && a.granule == b.granule;
  };
  size_ = static_cast<size_t>(std::unique(postings_.get(), postings_.get() + size_, same) -
                              postings_.get());
}

PostingsPlan ChoosePlan(const PostingCounts& counts, double target_fpr) {
  const double allowed = target_fpr * std::max(1.0, counts.granules);
  // A value in one granule of a group gets the others of the group as false positives.
  if (counts.pairs < kNearlyUnique * counts.values) {
    return SmallestPlan(counts, 1 + std::floor(allowed), allowed);
  }
  const double bloom_bits = counts.pairs * -std::log2(target_fpr) * std::numbers::log2e;
  double false_positives = std::min(kFewFalsePositives, allowed);
  for (;;) {
    const PostingsPlan plan = SmallestPlan(counts, 1, false_positives);
    if (plan.bits <= bloom_bits || false_positives == allowed) return plan;
    false_positives = std::min(2 * false_positives, allowed);
  }
}

PostingCounts CountPostings(const SortedPostings& postings) {
  PostingCounts counts;
  counts.granules = static_cast<double>(postings.num_granules());
  counts.pairs = static_cast<double>(postings.all().size());
  ForEachList(postings.all(), [&](PostingList list) {
    ++counts.values;
    if (list.size() == 1) {
      ++counts.singles;
      return;
    }
    // Gaps of random granules, or a bitmap.
    const auto count = static_cast<double>(list.size());
    counts.list_bits += std::min(count * (std::log2(counts.granules / count) + std::numbers::log2e),
                                 counts.granules);
  });
  return counts;
}

bool AppendPostings(const SortedPostings& postings, const PostingCounts& counts, double target_fpr,
                    std::string* out) {
  if (postings.num_granules() > kMaxListedGranules) return false;
  const size_t start = out->size();
  const bool ok = AppendPlanned(ChoosePlan(counts, target_fpr), postings, out);
  if (!ok) out->resize(start);
  return ok;
}

}  // namespace blocksieve::internal
