#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "lib/block/kind.h"

namespace blocksieve::internal {

/// Blocked Bloom; see blocked_bloom.h.
struct BloomKind {
  static constexpr FilterKind kKind = FilterKind::kBlockedBloom;
  static constexpr std::string_view kName = "bloom";
  static constexpr uint32_t kMaxProbes = 16;        // as the field has four bits
  static constexpr double kMaxBitsPerKey = 0x1p28;  // as PayloadBytes is clamped

  static Layout ChooseLayout(double target_fpr);
  static Layout LayoutForBitsPerKey(double bits_per_key);
  static double MinBitsPerKey();
  static uint64_t PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept;
  static std::string LayoutText(const Layout& layout);
  static BlockPlan Plan(const Layout& layout, uint64_t num_keys) noexcept;
  static std::string Build(HashList* hashes, bool keep, const Layout& layout, uint8_t* out,
                           BlockPlan* plan);
  static Problem Open(const Footer& footer, Kernel kernel, PointFilter* filter) noexcept;
  static void Describe(const Footer& footer, FilterDescription* description) noexcept;
};
static_assert(BuiltKind<BloomKind>);

}  // namespace blocksieve::internal
