#pragma once

#include "lib/block/family.h"
#include "lib/ribbon/sizing.h"

namespace blocksieve::internal {

/// The chunk-seeded ribbon; see lib/RIBBON.md.
struct RibbonFamily {
  static constexpr FilterKind kKind = FilterKind::kRibbon;
  static constexpr std::string_view kName = "ribbon";

  static Result<Layout> ChooseLayout(double target_fpr) { return ChooseRibbonLayout(target_fpr); }
  static Result<Layout> LayoutForBitsPerKey(double bits_per_key) {
    return RibbonLayoutForBitsPerKey(bits_per_key);
  }
  static uint64_t PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept {
    return RibbonPayloadBytes(layout, num_keys);
  }
  static uint64_t MaxKeys(const Layout& layout, uint64_t payload_bytes) noexcept {
    return MaxRibbonKeys(layout, payload_bytes);
  }
  static std::string LayoutText(const Layout& layout);
  static PointPlan Plan(const Layout& layout, uint64_t num_keys) noexcept;
  static BuiltPoints Build(HashList* hashes, bool keep, const Layout& layout, uint8_t* out);
  static Problem Open(const Footer& footer, Kernel kernel, PointFilter* filter) noexcept;
  static void Describe(const Footer& footer, PointDescription* description) noexcept;
};
static_assert(FilterFamily<RibbonFamily>);

}  // namespace blocksieve::internal
