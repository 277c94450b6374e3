#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <tuple>

#include "lib/bloom/family.h"
#include "lib/filter/no_points.h"
#include "lib/filter/stock_sizing.h"
#include "lib/ribbon/family.h"

namespace blocksieve::internal {

/// The families of key filters. A new one is listed here, and has a number in FilterKind. The first
/// is built instead of another that cannot be built.
using Families = std::tuple<BloomFamily, RibbonFamily, NoPoints>;
using FallbackFamily = std::tuple_element_t<0, Families>;

/// Those that have sizes: also filters that RocksDB builds.
using SizedFamilies =
    std::tuple<BloomFamily, RibbonFamily, StockBloomFamily, StockRibbonFamily, NoPoints>;

/// InvalidArgument: this library does not build filters of this kind.
Status UnknownKind(FilterKind kind);

template <class List = Families>
bool IsFamily(FilterKind kind) noexcept {
  return std::apply([&](auto... family) { return ((family.kKind == kind) || ...); }, List());
}

/// Whether filters of the kind have layouts, rates and sizes.
inline bool HasSizing(FilterKind kind) noexcept {
  return kind != FilterKind::kNone && IsFamily<SizedFamilies>(kind);
}

/// visit(Family()) for the family of this kind. REQUIRES: IsFamily<List>(kind)
template <class List = Families, size_t i = 0, class Visit>
decltype(auto) VisitFamily(FilterKind kind, const Visit& visit) {
  if constexpr (i + 1 < std::tuple_size_v<List>) {
    if (kind != std::tuple_element_t<i, List>::kKind) return VisitFamily<List, i + 1>(kind, visit);
  }
  return visit(std::tuple_element_t<i, List>());
}

/// The plan of a block; without keys, it has only the kind. REQUIRES: IsFamily<List>(layout.kind)
template <class List = Families>
BlockPlan PlanBlock(const Layout& layout, uint64_t num_keys) noexcept {
  if (num_keys == 0) return {.kind = layout.kind};
  return VisitFamily<List>(layout.kind, [&](auto family) { return family.Plan(layout, num_keys); });
}

}  // namespace blocksieve::internal
