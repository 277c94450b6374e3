#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <string_view>

#include "blocksieve/sizing.h"
#include "lib/block/kind.h"

// Sizes and rates of RocksDB's own filters: the one model of them. It is in the core although the
// core knows no storage engine, because tree.h plans trees of any kind of filter (kind=stock), and
// what it needs of a kind is layouts and sizes. Bytes of such filters: compat/stock_filters.h.

namespace blocksieve::internal {

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

}  // namespace blocksieve::internal
