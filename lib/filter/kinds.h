#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <tuple>

#include "lib/bloom/kind.h"
#include "lib/ribbon/kind.h"

namespace blocksieve::internal {

// Sizes and rates of RocksDB's own filters: the one model of them. It is in the core although the
// core knows no storage engine, because tree.h plans trees of any kind of filter (kind=stock), and
// what it needs of a kind is layouts and sizes. Bytes of such filters: compat/stock_filters.h.

/// The number of bits that a stock Bloom filter sets per key.
uint32_t StockBloomProbes(double bits_per_key) noexcept;

/// A kind of stock filter. Its layouts have few different rates, because each one takes a policy
/// object of RocksDB: 16 per decade down to 0.001 and 6 below, among them the powers of ten, and
/// kMaxTargetFpr.
template <FilterKind kind>
struct StockKind {
  static constexpr FilterKind kKind = kind;
  static constexpr std::string_view kName =
      kind == FilterKind::kStockBloom ? "stock bloom" : "stock ribbon";

  static Layout ChooseLayout(double target_fpr);
  static Layout LayoutForBitsPerKey(double bits_per_key);
  static double MinBitsPerKey();
  static uint64_t PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept;
  static std::string LayoutText(const Layout& layout);
  static BlockPlan Plan(const Layout&, uint64_t) noexcept { return {}; }
};

using StockBloomKind = StockKind<FilterKind::kStockBloom>;
using StockRibbonKind = StockKind<FilterKind::kStockRibbon>;

/// The kind of blocks that have sections for range queries only: every key may match.
struct NoPoints {
  static constexpr FilterKind kKind = FilterKind::kNone;
  static constexpr std::string_view kName = "none";
  static constexpr uint32_t kMaxProbes = 0;
  static constexpr double kMaxBitsPerKey = 0;

  static Layout ChooseLayout(double) { return {kKind}; }
  static Layout LayoutForBitsPerKey(double) { return {kKind}; }
  static double MinBitsPerKey() { return 0; }
  static uint64_t PayloadBytes(const Layout&, uint64_t) noexcept { return 0; }
  static std::string LayoutText(const Layout&) { return "none"; }
  static BlockPlan Plan(const Layout&, uint64_t num_keys) noexcept {
    return {.kind = kKind, .num_keys = num_keys};
  }
  static std::string Build(HashList*, bool, const Layout&, uint8_t*, BlockPlan*) { return ""; }
  static Problem Open(const Footer& footer, Kernel, PointFilter* filter) noexcept {
    if (footer.is_short) return {"kind without short blocks", /*is_newer=*/true};
    *filter = PointFilter();
    const bool is_empty = footer.points.empty() && footer.fields.empty();
    return is_empty ? Problem() : Problem{"a block without a key filter has the bytes of one"};
  }
  static void Describe(const Footer& footer, FilterDescription* description) noexcept {
    description->num_keys = footer.num_keys;
  }
};
static_assert(BuiltKind<NoPoints>);

/// The kinds of key filters. A new one is listed here, and has a number in FilterKind. The first
/// is built instead of another that cannot be built.
using Kinds = std::tuple<BloomKind, RibbonKind, NoPoints>;
using FallbackKind = std::tuple_element_t<0, Kinds>;

/// Those that have sizes: also filters that RocksDB builds.
using SizedKinds = std::tuple<BloomKind, RibbonKind, StockBloomKind, StockRibbonKind, NoPoints>;

/// InvalidArgument: this library does not build filters of this kind.
Status UnknownKind(FilterKind kind);

template <class List = Kinds>
bool IsKind(FilterKind kind) noexcept {
  return std::apply([&](auto... impl) { return ((impl.kKind == kind) || ...); }, List());
}

/// Whether filters of the kind have layouts, rates and sizes.
inline bool HasSizing(FilterKind kind) noexcept {
  return kind != FilterKind::kNone && IsKind<SizedKinds>(kind);
}

/// visit(impl) with what implements this kind. REQUIRES: IsKind<List>(kind)
template <class List = Kinds, size_t i = 0, class Visit>
decltype(auto) VisitKind(FilterKind kind, const Visit& visit) {
  if constexpr (i + 1 < std::tuple_size_v<List>) {
    if (kind != std::tuple_element_t<i, List>::kKind) return VisitKind<List, i + 1>(kind, visit);
  }
  return visit(std::tuple_element_t<i, List>());
}

/// The plan of a block; without keys, it has only the kind. REQUIRES: IsKind<List>(layout.kind)
template <class List = Kinds>
BlockPlan PlanBlock(const Layout& layout, uint64_t num_keys) noexcept {
  if (num_keys == 0) return {.kind = layout.kind};
  return VisitKind<List>(layout.kind, [&](auto impl) { return impl.Plan(layout, num_keys); });
}

}  // namespace blocksieve::internal
