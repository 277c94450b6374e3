#include "blocksieve/internal/filter_view.h"

#include <algorithm>

namespace blocksieve::internal {
namespace {

template <bool answer>
bool AnswerKey(const FilterView&, std::string_view) noexcept {
  return answer;
}
template <bool answer>
bool AnswerHash(const FilterView&, uint64_t) noexcept {
  return answer;
}
template <bool answer>
void AnswerHashes(const FilterView&, const uint64_t*, size_t num_hashes, bool* may_match) noexcept {
  std::fill_n(may_match, num_hashes, answer);
}

}  // namespace

const ProbeOps kNothingMatches = {&AnswerKey<false>, &AnswerHash<false>, &AnswerHashes<false>};
const ProbeOps kEverythingMatches = {&AnswerKey<true>, &AnswerHash<true>, &AnswerHashes<true>};

}  // namespace blocksieve::internal
