#include <array>
#include <vector>

#include "lib/block/filter_info.h"
#include "lib/block/kind.h"
#include "lib/bloom/blocked_bloom.h"
#include "lib/filter/block_sizing.h"
#include "lib/ribbon/builder.h"

namespace blocksieve {
namespace {

constexpr std::array<const internal::KindEntry*, 2> kKinds = {&internal::kBlockedBloomKind,
                                                              &internal::kRibbonKind};

}  // namespace

std::span<const internal::KindEntry* const> internal::AllKinds() noexcept { return kKinds; }

const internal::KindEntry* internal::FindKind(FilterKind kind) noexcept {
  const size_t i = static_cast<size_t>(kind) - static_cast<size_t>(FilterKind::kBlockedBloom);
  return i < kKinds.size() ? kKinds[i] : nullptr;
}

std::string_view FilterKindName(FilterKind kind) noexcept {
  const internal::KindEntry* entry = internal::FindKind(kind);
  return entry == nullptr ? "unknown" : entry->name;
}

std::vector<FilterKind> BuildableFilterKinds() {
  std::vector<FilterKind> kinds;
  for (const internal::KindEntry* entry : kKinds) kinds.push_back(entry->kind);
  return kinds;
}

}  // namespace blocksieve
