// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "blocksieve/bloom.h"
#include "lib/base/errors.h"

namespace blocksieve {

BloomArray::BloomArray(const BloomLayout& layout, OwnedBytes cells) noexcept
    : layout_(layout), cells_(std::move(cells)) {
  // The inverse of EstimateCardinality.
  const double m = static_cast<double>(layout.num_bits);
  const double positions =
      static_cast<double>(layout.num_probes) * static_cast<double>(layout.design_keys);
  max_set_ = static_cast<uint64_t>(-m * std::expm1(positions * std::log1p(-1 / m)));
}

CardinalityEstimate BloomArray::EstimateCardinality() const noexcept {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (num_set_ == 0) return {};
  if (num_set_ >= layout_.num_bits) return {kInfinity, kInfinity};
  const double m = static_cast<double>(layout_.num_bits);
  const double k = layout_.num_probes;
  const double keys = std::log1p(-static_cast<double>(num_set_) / m) / (k * std::log1p(-1 / m));
  const double load = k * keys / m;
  // expm1, because exp(load) - 1 would lose all precision in nearly empty filters.
  return {keys, std::sqrt(m * std::max(0.0, std::expm1(load) - load)) / k};
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
}
BLOCKSIEVE_CATCH_BAD_ALLOC

}  // namespace blocksieve
