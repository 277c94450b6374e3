#pragma once

#include "lib/block/family.h"

namespace blocksieve::internal {

/// The family of blocks that have sections for range queries only: every key may match.
struct NoPoints {
  static constexpr FilterKind kKind = FilterKind::kNone;
  static constexpr std::string_view kName = "none";

  static Result<Layout> ChooseLayout(double) { return Layout{kKind, 0, 0, 1}; }
  static Result<Layout> LayoutForBitsPerKey(double) { return ChooseLayout(1); }
  static uint64_t PayloadBytes(const Layout&, uint64_t) noexcept { return 0; }
  static uint64_t MaxKeys(const Layout&, uint64_t) noexcept { return UINT64_MAX; }
  static std::string LayoutText(const Layout&) { return "none"; }
  static PointPlan Plan(const Layout&, uint64_t) noexcept { return {}; }
  static std::string Build(HashList*, bool, const Layout&, uint8_t*, PointPlan*) { return ""; }
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
