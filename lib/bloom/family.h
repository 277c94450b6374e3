#pragma once

#include "lib/block/family.h"

namespace blocksieve::internal {

/// Blocked Bloom; see blocked_bloom.h.
struct BloomFamily {
  static constexpr FilterKind kKind = FilterKind::kBlockedBloom;
  static constexpr std::string_view kName = "bloom";

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
static_assert(FilterFamily<BloomFamily>);

}  // namespace blocksieve::internal
