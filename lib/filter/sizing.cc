#include "blocksieve/sizing.h"

#include <cassert>

#include "lib/base/errors.h"
#include "lib/filter/families.h"

namespace blocksieve {
namespace {

template <class Visit>
decltype(auto) VisitSized(FilterKind kind, const Visit& visit) {
  return internal::VisitFamily<internal::SizedFamilies>(kind, visit);
}

bool HasSizing(FilterKind kind) noexcept {
  return kind != FilterKind::kNone && internal::IsFamily<internal::SizedFamilies>(kind);
}

// What follows the points of a block, and what is before it. REQUIRES: num_keys > 0
internal::PointPlan PlanOf(const Layout& layout, uint64_t num_keys) noexcept {
  return VisitSized(layout.kind, [&](auto family) { return family.Plan(layout, num_keys); });
}

}  // namespace

Status internal::UnknownKind(FilterKind kind) try {
  std::string allowed;
  for (const FilterKind known : AllFilterKinds()) {
    allowed += (allowed.empty() ? "" : " or ") + std::string(FilterKindName(known));
  }
  return Status::InvalidArgument("filter kind is " + std::string(FilterKindName(kind)) +
                                 "; allowed: " + allowed);
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

std::string_view FilterKindName(FilterKind kind) noexcept {
  if (!internal::IsFamily<internal::SizedFamilies>(kind)) return "unknown";
  return VisitSized(kind, [](auto family) { return family.kName; });
}

std::vector<FilterKind> AllFilterKinds() {
  std::vector<FilterKind> kinds;
  std::apply([&](auto... family) { (kinds.push_back(family.kKind), ...); }, internal::Families());
  std::erase(kinds, FilterKind::kNone);
  return kinds;
}

std::string LayoutText(const Layout& layout) {
  return VisitSized(layout.kind, [&](auto family) { return family.LayoutText(layout); });
}

Result<Layout> ChooseLayout(FilterKind kind, double target_fpr) {
  if (!HasSizing(kind)) return internal::UnknownKind(kind);
  return VisitSized(kind, [&](auto family) { return family.ChooseLayout(target_fpr); });
}

Result<Layout> LayoutForBitsPerKey(FilterKind kind, double bits_per_key) {
  if (!HasSizing(kind)) return internal::UnknownKind(kind);
  return VisitSized(kind, [&](auto family) { return family.LayoutForBitsPerKey(bits_per_key); });
}

uint64_t PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept {
  return VisitSized(layout.kind,
                    [&](auto family) { return family.PayloadBytes(layout, num_keys); });
}

uint64_t MaxKeys(const Layout& layout, uint64_t payload_bytes) noexcept {
  return VisitSized(layout.kind,
                    [&](auto family) { return family.MaxKeys(layout, payload_bytes); });
}

uint64_t BlockBytes(const Layout& layout, uint64_t num_keys, bool has_sections) noexcept {
  if (!internal::IsFamily(layout.kind)) {
    return PayloadBytes(layout, num_keys) + internal::kStockTrailerBytes;
  }
  internal::BlockContents contents{.kind = layout.kind, .num_keys = num_keys};
  if (num_keys == 0) return internal::BytesAfterPoints(contents);
  if (PayloadBytes(layout, num_keys) >= uint64_t{1} << 63) return UINT64_MAX;
  const internal::PointPlan plan = PlanOf(layout, num_keys);
  contents.points_bytes = plan.points_bytes;
  contents.fields = plan.fields;
  // The length of a section of usual size takes two bytes.
  static constexpr char kSection[128] = {};
  if (has_sections) {
    contents.ranges = {kSection, sizeof(kSection)};
  } else {
    contents.short_fields = plan.short_fields;
  }
  return plan.points_bytes + internal::BytesAfterPoints(contents) - contents.ranges.size();
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
         BlockBytes(*fits, num_keys) + PlanOf(*fits, num_sized).excess_bytes > block_bytes) {
    fits = LayoutForBitsPerKey(kind, fits->bits_per_key - 1.0 / 16);
  }
  return fits.ok() ? *fits : *ChooseLayout(kind, kMaxTargetFpr);
}

}  // namespace blocksieve
