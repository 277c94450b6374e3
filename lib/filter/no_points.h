#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "lib/block/family.h"

namespace blocksieve::internal {

/// The family of blocks that have sections for range queries only: every key may match.
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
static_assert(FilterFamily<NoPoints>);

}  // namespace blocksieve::internal
