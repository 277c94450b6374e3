#include "lib/block/probe_ops.h"

#include <algorithm>

namespace blocksieve::internal {
namespace {

template <bool answer>
bool AnswerKey(const PointFilter&, std::string_view) noexcept {
  return answer;
}
template <bool answer>
bool AnswerHash(const PointFilter&, uint64_t) noexcept {
  return answer;
}
template <bool answer>
void AnswerHashes(const PointFilter&, const uint64_t*, size_t num_hashes,
                  bool* may_match) noexcept {
  std::fill_n(may_match, num_hashes, answer);
}

template <bool answer>
bool AnswerKeys(const PointFilter&, KeyList, size_t num_keys, bool* may_match) noexcept {
  std::fill_n(may_match, num_keys, answer);
  return true;
}

}  // namespace

const ProbeOps kNothingMatches = {&AnswerKey<false>, &AnswerHash<false>, &AnswerHashes<false>,
                                  &AnswerKeys<false>};
const ProbeOps kEverythingMatches = {&AnswerKey<true>, &AnswerHash<true>, &AnswerHashes<true>,
                                     &AnswerKeys<true>};

}  // namespace blocksieve::internal

namespace blocksieve {

PointFilter::PointFilter() noexcept : ops_(&internal::kEverythingMatches) {}

}  // namespace blocksieve
