#include "blocksieve/sizing.h"

#include <cassert>

#include "lib/base/errors.h"
#include "lib/block/kind.h"

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

std::string LayoutText(const Layout& layout) { return SizingOf(layout).layout_text(layout); }

}  // namespace blocksieve
