#include "blocksieve/sizing.h"

#include "lib/bloom/sizing.h"
#include "lib/ribbon/sizing.h"

namespace blocksieve {

Result<Layout> ChooseLayout(FilterKind kind, double target_fpr) {
  return kind == FilterKind::kRibbon ? internal::ChooseRibbonLayout(target_fpr)
                                     : internal::ChooseBloomLayout(kind, target_fpr);
}

Result<Layout> LayoutForBitsPerKey(FilterKind kind, double bits_per_key) {
  return kind == FilterKind::kRibbon ? internal::RibbonLayoutForBitsPerKey(bits_per_key)
                                     : internal::BloomLayoutForBitsPerKey(kind, bits_per_key);
}

uint64_t PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept {
  return layout.kind == FilterKind::kRibbon ? internal::RibbonPayloadBytes(layout, num_keys)
                                            : internal::BloomPayloadBytes(layout, num_keys);
}

uint64_t MaxKeys(const Layout& layout, uint64_t payload_bytes) noexcept {
  return layout.kind == FilterKind::kRibbon ? internal::MaxRibbonKeys(layout, payload_bytes)
                                            : internal::MaxBloomKeys(layout, payload_bytes);
}

}  // namespace blocksieve
