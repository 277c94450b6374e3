// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/bloom.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <utility>

#include "lib/base/coding.h"
#include "lib/base/errors.h"
#include "lib/classic/container.h"

namespace blocksieve {
namespace {

/// Counters in an array of bytes from the low bits of the first byte on. Counters of 16 bits are
/// little-endian; no other counter crosses a byte.
class CounterCells {
 public:
  CounterCells(const uint8_t* data, uint32_t cell_bits) noexcept
      : data_(data), shift_(static_cast<uint32_t>(std::countr_zero(cell_bits))) {}

  uint32_t Load(uint64_t i) const noexcept {
    if (shift_ == 4) return LoadLittleEndian<uint16_t>(data_ + 2 * i);
    return data_[ByteOf(i)] >> BitOf(i) & Mask();
  }

  /// Writes cell i. REQUIRES: `data` is the array of these cells; `value` fits a cell.
  void Store(uint8_t* data, uint64_t i, uint32_t value) const noexcept {
    assert(value < uint64_t{1} << (1u << shift_));
    if (shift_ == 4) return StoreLittleEndian(data + 2 * i, static_cast<uint16_t>(value));
    uint8_t& byte = data[ByteOf(i)];
    byte = static_cast<uint8_t>((byte & ~(Mask() << BitOf(i))) | value << BitOf(i));
  }

 private:
  uint64_t ByteOf(uint64_t i) const noexcept { return i << shift_ >> 3; }
  uint32_t BitOf(uint64_t i) const noexcept { return static_cast<uint32_t>(i << shift_) & 7; }
  uint32_t Mask() const noexcept { return (1u << (1u << shift_)) - 1; }

  const uint8_t* data_;
  uint32_t shift_;  // cells have 2^shift_ bits
};

/// Calls `visit` with each position of a key once, although two may coincide: otherwise the count
/// of a key would depend on its hash.
template <class Visit>
void ForEachPosition(uint64_t hash, const BloomLayout& layout, const Visit& visit) noexcept {
  std::array<uint64_t, kMaxBloomProbes> visited;
  auto end = visited.begin();
  for (uint32_t j = 0; j < layout.num_probes; ++j) {
    const uint64_t position = internal::NextPosition(&hash, layout.num_bits);
    if (std::find(visited.begin(), end, position) != end) continue;
    *end++ = position;
    visit(position);
  }
}

}  // namespace

Result<CountingBloom> CountingBloom::Create(const BloomLayout& layout, uint32_t counter_bits) try {
  BLOCKSIEVE_RETURN_IF_ERROR(internal::CheckCounters(layout, counter_bits));
  BLOCKSIEVE_ASSIGN_OR_RETURN(OwnedBytes counters, internal::AllocateCells(layout, counter_bits));
  return CountingBloom(layout, counter_bits, std::move(counters));
}
BLOCKSIEVE_CATCH_BAD_ALLOC

Result<CountingBloom> CountingBloom::Deserialize(ByteView bytes) try {
  BLOCKSIEVE_ASSIGN_OR_RETURN(internal::BloomContainer read,
                              internal::ReadContainer(/*has_counters=*/true, bytes));
  return CountingBloom(read.layout, read.cell_bits, std::move(read.cells));
}
BLOCKSIEVE_CATCH_BAD_ALLOC

Result<OwnedBytes> CountingBloom::Serialize() const {
  return internal::WriteContainer(layout_, counter_bits_, cells_.view());
}

CountingBloom::CountingBloom(const BloomLayout& layout, uint32_t counter_bits, OwnedBytes counters)
    : BloomArray(layout, std::move(counters)), counter_bits_(counter_bits) {
  const CounterCells cells(cells_.data(), counter_bits_);
  for (uint64_t i = 0; i < layout_.num_bits; ++i) {
    const uint32_t count = cells.Load(i);
    num_set_ += count != 0;
    num_stuck_counters_ += count == max_count();
  }
}

void CountingBloom::AddHash(uint64_t hash) noexcept {
  const CounterCells cells(cells_.data(), counter_bits_);
  ForEachPosition(hash, layout_, [&](uint64_t position) {
    const uint32_t count = cells.Load(position);
    if (count == max_count()) return;
    cells.Store(cells_.data(), position, count + 1);
    num_set_ += count == 0;
    num_stuck_counters_ += count + 1 == max_count();
  });
}

bool CountingBloom::RemoveHash(uint64_t hash) noexcept {
  if (!MayContainHash(hash)) return false;
  const CounterCells cells(cells_.data(), counter_bits_);
  ForEachPosition(hash, layout_, [&](uint64_t position) {
    const uint32_t count = cells.Load(position);
    if (count == max_count()) return;
    cells.Store(cells_.data(), position, count - 1);
    num_set_ -= count == 1;
  });
  return true;
}

uint32_t CountingBloom::EstimateCountHash(uint64_t hash) const noexcept {
  const CounterCells cells(cells_.data(), counter_bits_);
  uint32_t lowest = max_count();
  for (uint32_t j = 0; j < layout_.num_probes && lowest != 0; ++j) {
    lowest = std::min(lowest, cells.Load(internal::NextPosition(&hash, layout_.num_bits)));
  }
  return lowest;
}

Result<ClassicBloom> CountingBloom::Project() const {
  Result<ClassicBloom> projection = ClassicBloom::Create(layout_);
  if (!projection.ok()) return projection;
  const CounterCells cells(cells_.data(), counter_bits_);
  for (uint64_t i = 0; i < layout_.num_bits; ++i) {
    if (cells.Load(i) != 0) projection->cells_.data()[i / 8] |= static_cast<uint8_t>(1 << i % 8);
  }
  projection->num_set_ = num_set_;
  return projection;
}

}  // namespace blocksieve
