// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/sizing.h"

#include <limits>

#include "lib/base/errors.h"
#include "lib/filter/kinds.h"

namespace blocksieve {
namespace {

template <class Visit>
decltype(auto) VisitSized(FilterKind kind, const Visit& visit) {
  return internal::VisitKind<internal::SizedKinds>(kind, visit);
}

}  // namespace

Status internal::UnknownKind(FilterKind kind) try {
  std::string allowed;
  for (const FilterKind known : AllFilterKinds()) {
    allowed += (allowed.empty() ? "" : " or ") + std::string(FilterKindName(known));
  }
  return Status::InvalidArgument("filter kind is " + std::string(FilterKindName(kind)) +
                                 "; allowed: " + allowed);
}
BLOCKSIEVE_CATCH_BAD_ALLOC

std::string_view FilterKindName(FilterKind kind) noexcept {
  if (kind == FilterKind::kAuto) return "auto";
  if (kind == FilterKind::kStock) return "stock";
  if (!internal::IsKind<internal::SizedKinds>(kind)) return "unknown";
  return VisitSized(kind, [](auto impl) { return impl.kName; });
}

std::vector<FilterKind> AllFilterKinds() {
  std::vector<FilterKind> kinds;
  std::apply([&](auto... impl) { (kinds.push_back(impl.kKind), ...); }, internal::Kinds());
  std::erase(kinds, FilterKind::kNone);
  return kinds;
}

std::string LayoutText(const Layout& layout) {
  return VisitSized(layout.kind, [&](auto impl) { return impl.LayoutText(layout); });
}

Result<Layout> ChooseLayout(FilterKind kind, double target_fpr) {
  if (!internal::HasSizing(kind)) return internal::UnknownKind(kind);
  BLOCKSIEVE_RETURN_IF_ERROR(
      internal::CheckRange("target_fpr", target_fpr, kMinTargetFpr, kMaxTargetFpr));
  return VisitSized(kind, [&](auto impl) { return impl.ChooseLayout(target_fpr); });
}

Result<Layout> LayoutForBitsPerKey(FilterKind kind, double bits_per_key) {
  if (!internal::HasSizing(kind)) return internal::UnknownKind(kind);
  return VisitSized(kind, [&](auto impl) -> Result<Layout> {
    BLOCKSIEVE_RETURN_IF_ERROR(internal::CheckRange("bits_per_key", bits_per_key,
                                                    impl.MinBitsPerKey(),
                                                    std::numeric_limits<double>::infinity()));
    return impl.LayoutForBitsPerKey(bits_per_key);
  });
}

uint64_t PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept {
  return VisitSized(layout.kind, [&](auto impl) { return impl.PayloadBytes(layout, num_keys); });
}

uint64_t MaxKeys(const Layout& layout, uint64_t payload_bytes) noexcept {
  // No layout takes less than a sixteenth of a bit per key.
  uint64_t fits = 0;
  uint64_t too_many = payload_bytes < UINT64_MAX / 128 ? 128 * payload_bytes + 1 : UINT64_MAX;
  if (PayloadBytes(layout, too_many) <= payload_bytes) return too_many;
  while (too_many - fits > 1) {
    const uint64_t middle = fits + (too_many - fits) / 2;
    (PayloadBytes(layout, middle) <= payload_bytes ? fits : too_many) = middle;
  }
  return fits;
}

uint64_t BlockBytes(const Layout& layout, uint64_t num_keys, bool has_sections) noexcept {
  if (!internal::IsKind(layout.kind)) {
    return PayloadBytes(layout, num_keys) + kStockTrailerBytes;
  }
  if (PayloadBytes(layout, num_keys) >= uint64_t{1} << 63) return UINT64_MAX;
  // The length of a section of usual size takes two bytes.
  static constexpr char kSection[128] = {};
  const std::string_view ranges(kSection, has_sections && num_keys != 0 ? sizeof(kSection) : 0);
  const internal::BlockPlan plan = internal::PlanBlock(layout, num_keys);
  return plan.points_bytes + internal::BytesAfterPoints(plan, {}, ranges) - ranges.size();
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
  const uint64_t num_sized = num_keys == 0 ? 1 : num_keys;
  const double max_bits = 8.0 * static_cast<double>(block_bytes) / static_cast<double>(num_sized);
  Result<Layout> fits = LayoutForBitsPerKey(kind, max_bits);
  // A few steps: rows are 1/16 bit apart, and footers of all but tiny blocks take even less per
  // key.
  while (fits.ok() &&
         BlockBytes(*fits, num_keys) +
                 internal::PlanBlock<internal::SizedKinds>(*fits, num_sized).excess_bytes >
             block_bytes) {
    fits = LayoutForBitsPerKey(kind, fits->bits_per_key - 1.0 / 16);
  }
  if (!fits.ok()) fits = ChooseLayout(kind, kMaxTargetFpr);
  return fits.ok() ? *fits : Layout{FilterKind::kNone};
}

}  // namespace blocksieve
