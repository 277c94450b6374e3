#pragma once

#include "lib/block/family.h"

namespace blocksieve::internal {

/// The chunk-seeded ribbon; see lib/RIBBON.md.
struct RibbonFamily {
  static constexpr FilterKind kKind = FilterKind::kRibbon;
  static constexpr std::string_view kName = "ribbon";

  static Result<Layout> ChooseLayout(double target_fpr);
  static Result<Layout> LayoutForBitsPerKey(double bits_per_key);
  static uint64_t PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept;
  static uint64_t MaxKeys(const Layout& layout, uint64_t payload_bytes) noexcept;
  static std::string LayoutText(const Layout& layout);
  static PointPlan Plan(const Layout& layout, uint64_t num_keys) noexcept;
  static std::string Build(HashList* hashes, bool keep, const Layout& layout, uint8_t* out,
                           PointPlan* plan);
  static Problem Open(const Footer& footer, Kernel kernel, PointFilter* filter) noexcept;
  static void Describe(const Footer& footer, FilterDescription* description) noexcept;
};
static_assert(FilterFamily<RibbonFamily>);

}  // namespace blocksieve::internal
