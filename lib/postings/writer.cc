// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "lib/postings/posting.h"
#include "lib/postings/postings.h"

namespace blocksieve::internal {
namespace {

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
