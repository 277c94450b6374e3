// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "lib/postings/plan.h"
#include "lib/postings/posting.h"
#include "lib/postings/postings.h"

namespace blocksieve::internal {
namespace {

/// Appends each value to its ribbon or to the dictionary, as planned, one after the other: each
/// takes memory for all its values.
class PostingsWriter {
 public:
  PostingsWriter(const PostingsPlan& plan, const SortedPostings& postings)
      : plan_(plan),
        postings_(postings.all()),
        num_granules_(postings.num_granules()),
        in_dictionary_((num_granules_ + plan.group_granules - 1) / plan.group_granules) {
    ForEachList(postings_, [&](PostingList list) {
      ++num_values_;
      num_singles_ += IsSingle(list);
    });
  }

  /// False if it fails; `out` is then undefined.
  bool Append(std::string* out) const {
    out->push_back(static_cast<char>(num_ribbons()));
    if (num_ribbons() != 0) {
      AppendVarint(out, plan_.group_granules);
      out->push_back(static_cast<char>(plan_.check_bits));
    }
    return (num_ribbons() != 2 || AppendIsSingle(out)) &&
           (num_ribbons() == 0 || AppendGroupOf(out)) && AppendDictionaryOfOthers(out);
  }

 private:
  uint32_t num_ribbons() const noexcept { return plan_.num_ribbons; }
  uint64_t GroupOf(const Posting& posting) const noexcept {
    return posting.granule / plan_.group_granules;
  }
  bool IsSingle(PostingList list) const noexcept {
    return num_ribbons() != 0 && GroupOf(list.front()) == GroupOf(list.back());
  }

  bool AppendIsSingle(std::string* out) const {
    RetrievalWriter is_single(num_values_, 1);
    ForEachList(postings_, [&](PostingList list) {
      is_single.Add(list.front().hash, IsSingle(list) ? 1 : 0);
    });
    return is_single.Append(out);
  }

  bool AppendGroupOf(std::string* out) const {
    const bool has_all = num_ribbons() == 1;
    RetrievalWriter group_of(has_all ? num_values_ : num_singles_, plan_.columns());
    ForEachList(postings_, [&](PostingList list) {
      const bool single = IsSingle(list);
      if (!single && !has_all) return;
      const uint64_t hash = list.front().hash;
      const uint32_t check_bits = plan_.check_bits;
      const uint64_t group = single ? GroupOf(list.front()) : in_dictionary_;
      group_of.Add(hash, static_cast<uint32_t>(group << check_bits |
                                               (RibbonFingerprint(hash) & LowBits(check_bits))));
    });
    return group_of.Append(out);
  }

  bool AppendDictionaryOfOthers(std::string* out) const {
    std::vector<PostingList> lists;
    lists.reserve(static_cast<size_t>(num_values_ - num_singles_));
    ForEachList(postings_, [&](PostingList list) {
      if (!IsSingle(list)) lists.push_back(list);
    });
    return AppendDictionary(lists, num_granules_, num_ribbons() == 0 ? 1 : 2, plan_.remainder_bits,
                            out);
  }

  const PostingsPlan plan_;
  const std::span<const Posting> postings_;
  const uint64_t num_granules_;
  const uint64_t in_dictionary_;  // the first number above all groups
  uint64_t num_values_ = 0;
  uint64_t num_singles_ = 0;
};

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
  if (PostingsWriter(ChoosePlan(counts, target_fpr), postings).Append(out)) return true;
  out->resize(start);
  if (PostingsWriter(PlanOfDictionary(counts, target_fpr), postings).Append(out)) return true;
  out->resize(start);
  return false;
}

}  // namespace blocksieve::internal
