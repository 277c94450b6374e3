#include "lib/bloom/classic_block.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "blocksieve/classic_bloom.h"
#include "blocksieve/counting_bloom.h"
#include "blocksieve/filter_block.h"
#include "lib/base/block_memory.h"
#include "lib/base/out_of_memory.h"
#include "lib/block/filter_footer.h"
#include "lib/bloom/classic_cells.h"
#include "lib/bloom/classic_footer.h"
#include "lib/bloom/counting_cells.h"
#include "lib/hash/checksum.h"

namespace blocksieve {
namespace internal {
namespace {

// Room for the longest footer, so that no filter can be too large to be written.
static_assert(CellBytes(kMaxBloomBits, 1) + 100 < kMaxFilterBlockBytes);

/// What the footer has for the number of keys: at least one if there is any, as none means "empty".
uint64_t KeysOf(const BloomLayout& layout, uint64_t num_set) noexcept {
  if (num_set == 0) return 0;
  const double keys = EstimateCardinality(layout, num_set).keys;
  if (!std::isfinite(keys)) return layout.num_bits;
  return std::max(uint64_t{1}, static_cast<uint64_t>(std::llround(keys)));
}

}  // namespace

Result<OwnedBytes> WriteBloomBlock(FilterKind kind, const BloomLayout& layout, uint32_t cell_bits,
                                   ByteView cells, uint64_t num_set) try {
  FilterInfo info;
  info.kind = kind;
  info.num_keys = KeysOf(layout, num_set);
  info.hash_seed = layout.hash_seed;
  info.num_probes = layout.num_hashes;
  info.num_cells = layout.num_bits;
  info.design_keys = layout.design_keys;
  info.cell_bits = cell_bits;
  if (info.num_keys == 0) cells = {};
  info.payload_bytes = cells.size();
  info.payload_checksum = Checksum(cells);
  const std::string footer = EncodeFooter(info);

  OwnedBytes block = AllocateBlock(cells.size() + footer.size(), 0);
  if (block.memory == nullptr) {
    return Status::ResourceExhausted("no memory for a filter block of " +
                                     std::to_string(cells.size() + footer.size()) + " bytes");
  }
  char* const begin = block.memory.get() + block.offset;
  std::copy(cells.begin(), cells.end(), begin);
  std::memcpy(begin + cells.size(), footer.data(), footer.size());
  return block;
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

Result<BloomCells> ReadBloomBlock(FilterKind kind, ByteView block) try {
  const Result<FilterInfo> info = DescribeFilterBlock(block);
  if (!info.ok()) return info.status();
  if (info->kind != kind) {
    return Status::NotSupported("filter block: kind is " + std::string(FilterKindName(info->kind)) +
                                "; allowed here is " + std::string(FilterKindName(kind)));
  }
  if (Status status = VerifyFilterBlock(block); !status.ok()) return status;
  BloomCells read{.layout = BloomLayoutOf(*info), .cell_bits = info->cell_bits, .cells = {}};
  Result<OwnedBytes> cells = AllocateCells(read.layout, read.cell_bits);
  if (!cells.ok()) return cells.status();
  read.cells = *std::move(cells);
  const ByteView payload = block.first(static_cast<size_t>(info->payload_bytes));
  std::copy(payload.begin(), payload.end(), read.cells.memory.get() + read.cells.offset);

  const uint64_t last_bits = read.layout.num_bits * read.cell_bits % 8;
  if (!payload.empty() && last_bits != 0 && payload.back() >> last_bits != 0) {
    return Status::Corruption("filter block: bits are set beyond the last of " +
                              std::to_string(read.layout.num_bits) + " cells");
  }
  return read;
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

}  // namespace internal

Result<ClassicBloom> ClassicBloom::Deserialize(ByteView block) try {
  Result<internal::BloomCells> read = internal::ReadBloomBlock(FilterKind::kClassicBloom, block);
  if (!read.ok()) return read.status();
  return ClassicBloom(read->layout, std::move(read->cells));
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Result<OwnedBytes> ClassicBloom::Serialize() const {
  return internal::WriteBloomBlock(FilterKind::kClassicBloom, layout_, 1, bits_.view(),
                                   num_set_bits_);
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
                                   counters_.view(), num_set_counters_);
}

}  // namespace blocksieve
