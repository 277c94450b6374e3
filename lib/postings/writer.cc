#include <optional>
#include <vector>

#include "lib/base/kernels.h"
#include "lib/postings/plan.h"
#include "lib/postings/posting.h"
#include "lib/postings/postings.h"

namespace blocksieve::internal {
namespace {

/// Adds each value to its ribbon or to the dictionary, as planned.
class PostingsWriter {
 public:
  PostingsWriter(const PostingsPlan& plan, std::span<const Posting> postings, uint64_t num_granules)
      : plan_(plan),
        num_granules_(num_granules),
        in_dictionary_((num_granules + plan.shape.group_granules - 1) / plan.shape.group_granules) {
    uint64_t num_values = 0;
    uint64_t num_singles = 0;
    ForEachList(postings, [&](PostingList list) {
      ++num_values;
      num_singles += IsSingle(list);
    });
    lists_.reserve(static_cast<size_t>(num_values - num_singles));
    if (num_ribbons() == 2) is_single_.emplace(num_values, 1, ActiveKernel());
    if (num_ribbons() != 0) {
      group_of_.emplace(num_ribbons() == 1 ? num_values : num_singles, plan.columns(),
                        ActiveKernel());
    }
    ForEachList(postings, [&](PostingList list) { Add(list); });
  }

  /// False if it takes `max_bytes` or more, or remainders cannot be made distinct; `out` is then
  /// undefined.
  bool Append(uint64_t max_bytes, std::string* out) {
    out->push_back(static_cast<char>(num_ribbons()));
    if (num_ribbons() != 0) {
      AppendVarint(out, plan_.shape.group_granules);
      out->push_back(static_cast<char>(plan_.shape.check_bits));
    }
    if (is_single_ && !is_single_->Append(out)) return false;
    if (group_of_ && !group_of_->Append(out)) return false;
    return out->size() < max_bytes &&
           AppendDictionary(lists_, num_granules_, num_ribbons() == 0 ? 1 : 2, plan_.remainder_bits,
                            max_bytes - out->size(), out);
  }

 private:
  uint32_t num_ribbons() const noexcept { return plan_.shape.num_ribbons; }
  uint64_t GroupOf(const Posting& posting) const noexcept {
    return posting.granule / plan_.shape.group_granules;
  }
  bool IsSingle(PostingList list) const noexcept {
    return num_ribbons() != 0 && GroupOf(list.front()) == GroupOf(list.back());
  }

  void Add(PostingList list) {
    const uint64_t hash = list.front().hash;
    const bool single = IsSingle(list);
    if (!single) lists_.push_back(list);
    if (is_single_) is_single_->Add(hash, single ? 1 : 0);
    if (!single && num_ribbons() != 1) return;
    const uint32_t check_bits = plan_.shape.check_bits;
    const uint64_t group = single ? GroupOf(list.front()) : in_dictionary_;
    group_of_->Add(hash, static_cast<uint32_t>(group << check_bits |
                                               (RibbonFingerprint(hash) & LowBits(check_bits))));
  }

  const PostingsPlan plan_;
  const uint64_t num_granules_;
  const uint64_t in_dictionary_;  // the first number above all groups
  std::optional<RetrievalWriter> is_single_;
  std::optional<RetrievalWriter> group_of_;
  std::vector<PostingList> lists_;  // in the dictionary
};

}  // namespace

bool AppendPostings(const GranuleHashes& values, double target_fpr, uint64_t max_bytes,
                    std::string* out) {
  const uint64_t num_granules = values.counts.size();
  if (num_granules > kMaxListedGranules) return false;
  const SortedPostings sorted(values);
  PostingCounts counts;
  counts.granules = static_cast<double>(num_granules);
  counts.pairs = static_cast<double>(values.hashes.size());
  ForEachList(sorted.all(), [&](PostingList list) {
    ++counts.values;
    if (list.size() == 1) ++counts.singles;
  });
  std::string bytes;
  PostingsWriter writer(ChoosePlan(counts, target_fpr), sorted.all(), num_granules);
  if (!writer.Append(max_bytes, &bytes)) return false;
  *out += bytes;
  return true;
}

}  // namespace blocksieve::internal
