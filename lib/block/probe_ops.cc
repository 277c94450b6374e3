// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "lib/block/footer.h"

namespace blocksieve::internal {
namespace {

template <bool answer>
constexpr ProbeOps kAnswer = {
    [](const void*, std::string_view) noexcept { return answer; },
    [](const void*, uint64_t) noexcept { return answer; },
    [](const void*, const uint64_t*, size_t num_hashes, bool* may_match) noexcept {
      std::fill_n(may_match, num_hashes, answer);
    },
    [](const void*, KeyList, size_t num_keys, bool* may_match) noexcept {
      std::fill_n(may_match, num_keys, answer);
      return true;
    },
    0};

}  // namespace

constinit const ProbeOps kNothingMatches = kAnswer<false>;
constinit const ProbeOps kEverythingMatches = kAnswer<true>;

}  // namespace blocksieve::internal

namespace blocksieve {

PointFilter::PointFilter() noexcept : ops_(&internal::kEverythingMatches) {}

}  // namespace blocksieve
