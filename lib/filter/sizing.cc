#include "blocksieve/sizing.h"

#include <cassert>

#include "lib/base/errors.h"
#include "lib/block/kind.h"
#include "lib/filter/block_sizing.h"

namespace blocksieve {
namespace {

const internal::KindSizing* FindSizing(FilterKind kind) noexcept {
  const internal::KindEntry* entry = internal::FindKind(kind);
  return entry != nullptr && entry->sizing ? &*entry->sizing : nullptr;
}

const internal::KindSizing& SizingOf(const Layout& layout) noexcept {
  assert(FindSizing(layout.kind) != nullptr);
  return *FindSizing(layout.kind);
}

Status NoTable(FilterKind kind) try {
  return Status::InvalidArgument("filter kind is " + std::string(FilterKindName(kind)) +
                                 "; allowed: one that has a sizing table");
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

}  // namespace

Result<Layout> ChooseLayout(FilterKind kind, double target_fpr) {
  const internal::KindSizing* sizing = FindSizing(kind);
  return sizing == nullptr ? NoTable(kind) : sizing->choose_layout(target_fpr);
}

Result<Layout> LayoutForBitsPerKey(FilterKind kind, double bits_per_key) {
  const internal::KindSizing* sizing = FindSizing(kind);
  return sizing == nullptr ? NoTable(kind) : sizing->layout_for_bits_per_key(bits_per_key);
}

uint64_t PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept {
  return SizingOf(layout).payload_bytes(layout, num_keys);
}

uint64_t MaxKeys(const Layout& layout, uint64_t payload_bytes) noexcept {
  return SizingOf(layout).max_keys(layout, payload_bytes);
}

FilterInfo PlanBlock(const Layout& layout, uint64_t num_keys) noexcept {
  return internal::FindKind(layout.kind)->building->plan(layout, num_keys);
}

uint64_t BlockBytes(const Layout& layout, uint64_t num_keys) noexcept {
  if (PayloadBytes(layout, num_keys) >= uint64_t{1} << 63) return UINT64_MAX;
  const FilterInfo plan = PlanBlock(layout, num_keys);
  return plan.payload_bytes +
         internal::FooterBytesOf(plan, internal::FindKind(layout.kind)->format);
}

uint64_t MaxBlockKeys(const Layout& layout, uint64_t block_bytes) noexcept {
  // The footer's size varies with the number of keys by a few bytes: start with the keys that a
  // payload of block_bytes holds, and reduce it until payload and footer fit.
  uint64_t payload_bytes = block_bytes;
  while (payload_bytes > 0) {
    const uint64_t num_keys = MaxKeys(layout, payload_bytes);
    const uint64_t needed = BlockBytes(layout, num_keys);
    if (num_keys == 0 || needed <= block_bytes) return num_keys;
    const uint64_t excess = needed - block_bytes;
    payload_bytes = payload_bytes > excess ? payload_bytes - excess : 0;
  }
  return 0;
}

Layout LayoutForBlockBytes(FilterKind kind, uint64_t num_keys, uint64_t block_bytes) {
  const auto excess_bytes = internal::FindKind(kind)->building->excess_bytes;
  const double max_bits =
      8.0 * static_cast<double>(block_bytes) / static_cast<double>(num_keys == 0 ? 1 : num_keys);
  Result<Layout> fits = LayoutForBitsPerKey(kind, max_bits);
  // A few steps: rows are 1/16 bit apart, and footers of all but tiny blocks take even less per
  // key.
  while (fits.ok() && BlockBytes(*fits, num_keys) +
                              (excess_bytes == nullptr ? 0 : excess_bytes(*fits, num_keys)) >
                          block_bytes) {
    fits = LayoutForBitsPerKey(kind, fits->bits_per_key - 1.0 / 16);
  }
  return fits.ok() ? *fits : *ChooseLayout(kind, kMaxTargetFpr);
}

}  // namespace blocksieve
