// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/bloom.h"

#include <algorithm>
#include <bit>
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

}  // namespace blocksieve
