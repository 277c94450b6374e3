#include "blocksieve/bloom.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "lib/base/errors.h"
#include "lib/bloom/cells.h"
#include "lib/bloom/sizing.h"

namespace blocksieve {
namespace {

Status CheckRange(const char* name, uint64_t value, uint64_t lowest, uint64_t highest) try {
  if (value >= lowest && value <= highest) return Status::Ok();
  return Status::InvalidArgument(std::string(name) + " is " + std::to_string(value) +
                                 "; allowed: " + std::to_string(lowest) + " to " +
                                 std::to_string(highest));
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

}  // namespace

Result<BloomLayout> BloomLayout::ForKeys(uint64_t num_keys, double target_fpr,
                                         uint64_t hash_seed) try {
  const Result<Layout> chosen = internal::ChooseBloomLayout(FilterKind::kClassicBloom, target_fpr);
  if (!chosen.ok()) return chosen.status();
  const uint64_t max_keys = internal::MaxBloomKeys(*chosen, kMaxBloomBits / 8 - 1);
  if (Status status = CheckRange("num_keys", num_keys, 1, max_keys); !status.ok()) return status;
  return BloomLayout{.num_bits = 8 * (internal::BloomPayloadBytes(*chosen, num_keys) + 1),
                     .num_probes = chosen->num_probes,
                     .hash_seed = hash_seed,
                     .design_keys = num_keys};
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Result<BloomLayout> BloomLayout::ForBits(uint64_t num_bits, uint32_t num_probes,
                                         uint64_t hash_seed) {
  BloomLayout layout{.num_bits = num_bits, .num_probes = num_probes, .hash_seed = hash_seed};
  layout.design_keys = 1;  // valid, so that Check() looks at the other fields
  if (Status status = layout.Check(); !status.ok()) return status;
  const double keys = static_cast<double>(num_bits) * std::numbers::ln2 / num_probes;
  layout.design_keys = std::max(uint64_t{1}, static_cast<uint64_t>(std::llround(keys)));
  return layout;
}

Result<BloomLayout> BloomLayout::ForBytes(uint64_t num_bytes, uint32_t num_probes,
                                          uint64_t hash_seed) {
  Status status = CheckRange("num_bytes", num_bytes, 1, kMaxBloomBits / 8);
  if (!status.ok()) return status;
  return ForBits(8 * num_bytes, num_probes, hash_seed);
}

Status BloomLayout::Check() const {
  Status status = CheckRange("num_bits", num_bits, 1, kMaxBloomBits);
  if (status.ok()) status = CheckRange("num_probes", num_probes, 1, kMaxBloomProbes);
  if (status.ok()) {
    status = CheckRange("design_keys", design_keys, 1, std::numeric_limits<uint64_t>::max());
  }
  return status;
}

CardinalityEstimate internal::EstimateCardinality(const BloomLayout& layout,
                                                  uint64_t num_set) noexcept {
  assert(layout.Check().ok() && num_set <= layout.num_bits);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (num_set == 0) return {};
  if (num_set >= layout.num_bits) return {kInfinity, kInfinity};
  const double m = static_cast<double>(layout.num_bits);
  const double k = layout.num_probes;
  const double keys = std::log1p(-static_cast<double>(num_set) / m) / (k * std::log1p(-1 / m));
  const double load = k * keys / m;
  // expm1, because exp(load) - 1 would lose all precision in nearly empty filters.
  return {keys, std::sqrt(m * std::max(0.0, std::expm1(load) - load)) / k};
}

BloomArray::BloomArray(const BloomLayout& layout, OwnedBytes cells) noexcept
    : layout_(layout), cells_(std::move(cells)) {
  // The inverse of EstimateCardinality.
  const double m = static_cast<double>(layout.num_bits);
  const double positions =
      static_cast<double>(layout.num_probes) * static_cast<double>(layout.design_keys);
  max_set_ = static_cast<uint64_t>(-m * std::expm1(positions * std::log1p(-1 / m)));
}

CardinalityEstimate BloomArray::EstimateCardinality() const noexcept {
  return internal::EstimateCardinality(layout_, num_set_);
}

double BloomArray::CurrentFpr() const noexcept {
  return std::pow(static_cast<double>(num_set_) / static_cast<double>(layout_.num_bits),
                  layout_.num_probes);
}

Status BloomArray::CheckFill() const try {
  if (num_set_ <= max_set_) return Status::Ok();
  const double keys = EstimateCardinality().keys;
  const std::string estimate =
      std::isfinite(keys) ? "about " + std::to_string(std::llround(keys)) : "far too many";
  return Status::ResourceExhausted("filter is overfull: it holds " + estimate +
                                   " keys; it is designed for " +
                                   std::to_string(layout_.design_keys));
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

}  // namespace blocksieve
