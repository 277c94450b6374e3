// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/bloom.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "lib/base/errors.h"
#include "lib/classic/container.h"

namespace blocksieve {

Result<ClassicBloom> ClassicBloom::Create(const BloomLayout& layout) try {
  BLOCKSIEVE_RETURN_IF_ERROR(layout.Check());
  BLOCKSIEVE_ASSIGN_OR_RETURN(OwnedBytes bits, internal::AllocateCells(layout, 1));
  return ClassicBloom(layout, std::move(bits));
}
BLOCKSIEVE_CATCH_BAD_ALLOC

Result<ClassicBloom> ClassicBloom::Deserialize(ByteView bytes) try {
  BLOCKSIEVE_ASSIGN_OR_RETURN(internal::BloomContainer read,
                              internal::ReadContainer(/*has_counters=*/false, bytes));
  return ClassicBloom(read.layout, std::move(read.cells));
}
BLOCKSIEVE_CATCH_BAD_ALLOC

Result<OwnedBytes> ClassicBloom::Serialize() const {
  return internal::WriteContainer(layout_, 1, cells_.view());
}

ClassicBloom::ClassicBloom(const BloomLayout& layout, OwnedBytes bits)
    : BloomArray(layout, std::move(bits)) {
  CountSetBits();
}

void ClassicBloom::CountSetBits() noexcept {
  num_set_ = 0;
  for (const uint8_t byte : cells_.view()) num_set_ += static_cast<uint64_t>(std::popcount(byte));
}

bool ClassicBloom::AddHash(uint64_t hash) noexcept {
  uint64_t newly_set = 0;
  for (uint32_t j = 0; j < layout_.num_probes; ++j) {
    const uint64_t position = internal::NextPosition(&hash, layout_.num_bits);
    uint8_t& byte = cells_.data()[position / 8];
    const auto bit = static_cast<uint8_t>(1 << position % 8);
    newly_set += (byte & bit) == 0;
    byte |= bit;
  }
  num_set_ += newly_set;
  return newly_set != 0;
}

bool ClassicBloom::MayContainHash(uint64_t hash) const noexcept {
  for (uint32_t j = 0; j < layout_.num_probes; ++j) {
    const uint64_t position = internal::NextPosition(&hash, layout_.num_bits);
    if ((cells_.data()[position / 8] >> position % 8 & 1) == 0) return false;
  }
  return true;
}

Status ClassicBloom::UniteWith(const ClassicBloom& other) try {
  if (!layout_.SameBits(other.layout_)) {
    const auto text = [](const BloomLayout& layout) {
      return std::to_string(layout.num_bits) + " bits, " + std::to_string(layout.num_probes) +
             " probes, seed " + std::to_string(layout.hash_seed);
    };
    return Status::InvalidArgument("layout of the other filter is " + text(other.layout_) +
                                   "; allowed: " + text(layout_));
  }
  std::transform(cells_.data(), cells_.data() + cells_.size, other.cells_.data(), cells_.data(),
                 std::bit_or<uint8_t>());
  CountSetBits();
  return Status::Ok();
}
BLOCKSIEVE_CATCH_BAD_ALLOC

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
