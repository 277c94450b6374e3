#include "blocksieve/bloom.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "blocksieve/hash.h"
#include "lib/base/errors.h"
#include "lib/bloom/cells.h"

namespace blocksieve {
namespace {

/// A counter at which two positions of a key coincide counts the key once: otherwise the count of a
/// key would depend on its hash.
class DistinctPositions {
 public:
  DistinctPositions(uint64_t hash, const BloomLayout& layout) noexcept {
    internal::Positions positions(hash, layout.num_bits);
    for (uint32_t j = 0; j < layout.num_probes; ++j) {
      const uint64_t position = positions.Next();
      const auto end = positions_.begin() + count_;
      if (std::find(positions_.begin(), end, position) == end) positions_[count_++] = position;
    }
  }
  auto begin() const noexcept { return positions_.begin(); }
  auto end() const noexcept { return positions_.begin() + count_; }

 private:
  std::array<uint64_t, kMaxBloomProbes> positions_;
  uint32_t count_ = 0;
};

}  // namespace

Result<CountingBloom> CountingBloom::Create(const BloomLayout& layout, uint32_t counter_bits) try {
  if (Status status = layout.Check(); !status.ok()) return status;
  if (!internal::IsCounterBits(counter_bits)) {
    return Status::InvalidArgument("counter_bits is " + std::to_string(counter_bits) +
                                   "; allowed: 2, 4, 8 or 16");
  }
  if (layout.num_bits > kMaxBloomBits / counter_bits) {
    return Status::InvalidArgument("num_bits is " + std::to_string(layout.num_bits) +
                                   "; allowed: 1 to " +
                                   std::to_string(kMaxBloomBits / counter_bits) +
                                   " for counters of " + std::to_string(counter_bits) + " bits");
  }
  Result<OwnedBytes> counters = internal::AllocateCells(layout, counter_bits);
  if (!counters.ok()) return counters.status();
  return CountingBloom(layout, counter_bits, *std::move(counters));
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Result<CountingBloom> CountingBloom::Deserialize(ByteView block) try {
  Result<internal::BloomCells> read = internal::ReadBloomBlock(FilterKind::kCountingBloom, block);
  if (!read.ok()) return read.status();
  return CountingBloom(read->layout, read->cell_bits, std::move(read->cells));
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Result<OwnedBytes> CountingBloom::Serialize() const {
  return internal::WriteBloomBlock(FilterKind::kCountingBloom, layout_, counter_bits_,
                                   cells_.view(), num_set_);
}

CountingBloom::CountingBloom(const BloomLayout& layout, uint32_t counter_bits, OwnedBytes counters)
    : BloomArray(layout, std::move(counters)), counter_bits_(counter_bits) {
  const internal::CounterCells cells(cells_.data(), counter_bits_);
  for (uint64_t i = 0; i < layout_.num_bits; ++i) {
    const uint32_t count = cells.Load(i);
    num_set_ += count != 0;
    num_stuck_counters_ += count == max_count();
  }
}

void CountingBloom::Add(std::string_view key) noexcept { AddHash(HashKey(key, layout_.hash_seed)); }

void CountingBloom::AddHash(uint64_t hash) noexcept {
  const internal::CounterCells cells(cells_.data(), counter_bits_);
  for (const uint64_t position : DistinctPositions(hash, layout_)) {
    const uint32_t count = cells.Load(position);
    if (count == max_count()) continue;
    cells.Store(cells_.data(), position, count + 1);
    num_set_ += count == 0;
    num_stuck_counters_ += count + 1 == max_count();
  }
}

bool CountingBloom::Remove(std::string_view key) noexcept {
  return RemoveHash(HashKey(key, layout_.hash_seed));
}

bool CountingBloom::RemoveHash(uint64_t hash) noexcept {
  if (!MayContainHash(hash)) return false;
  const internal::CounterCells cells(cells_.data(), counter_bits_);
  for (const uint64_t position : DistinctPositions(hash, layout_)) {
    const uint32_t count = cells.Load(position);
    if (count == max_count()) continue;
    cells.Store(cells_.data(), position, count - 1);
    num_set_ -= count == 1;
  }
  return true;
}

bool CountingBloom::MayContain(std::string_view key) const noexcept {
  return EstimateCount(key) != 0;
}

uint32_t CountingBloom::EstimateCount(std::string_view key) const noexcept {
  return EstimateCountHash(HashKey(key, layout_.hash_seed));
}

uint32_t CountingBloom::EstimateCountHash(uint64_t hash) const noexcept {
  const internal::CounterCells cells(cells_.data(), counter_bits_);
  internal::Positions positions(hash, layout_.num_bits);
  uint32_t lowest = max_count();
  for (uint32_t j = 0; j < layout_.num_probes && lowest != 0; ++j) {
    lowest = std::min(lowest, cells.Load(positions.Next()));
  }
  return lowest;
}

Result<ClassicBloom> CountingBloom::Project() const {
  Result<ClassicBloom> projection = ClassicBloom::Create(layout_);
  if (!projection.ok()) return projection;
  const internal::CounterCells cells(cells_.data(), counter_bits_);
  for (uint64_t i = 0; i < layout_.num_bits; ++i) {
    if (cells.Load(i) != 0) projection->cells_.data()[i / 8] |= static_cast<uint8_t>(1 << i % 8);
  }
  projection->num_set_ = num_set_;
  return projection;
}

}  // namespace blocksieve
