#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "lib/block/kind.h"
#include "lib/ribbon/hash.h"

namespace blocksieve::internal {

/// The chunk-seeded ribbon; see lib/RIBBON.md.
struct RibbonKind {
  static constexpr FilterKind kKind = FilterKind::kRibbon;
  static constexpr std::string_view kName = "ribbon";
  static constexpr uint32_t kMaxProbes = kMaxRibbonColumns;
  static constexpr double kMaxBitsPerKey = kMaxRibbonColumns;

  static Layout ChooseLayout(double target_fpr);
  static Layout LayoutForBitsPerKey(double bits_per_key);
  static double MinBitsPerKey() { return 1; }
  static uint64_t PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept;
  static std::string LayoutText(const Layout& layout);
  static BlockPlan Plan(const Layout& layout, uint64_t num_keys) noexcept;
  static std::string Build(HashList* hashes, bool keep, const Layout& layout, uint8_t* out,
                           BlockPlan* plan);
  static Problem Open(const Footer& footer, Kernel kernel, PointFilter* filter) noexcept;
  static void Describe(const Footer& footer, FilterDescription* description) noexcept;
};
static_assert(BuiltKind<RibbonKind>);

}  // namespace blocksieve::internal
