#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "blocksieve/hash.h"
#include "lib/base/block_memory.h"
#include "lib/base/errors.h"
#include "lib/block/probe_loops.h"
#include "lib/bloom/bloom_model.h"
#include "lib/bloom/cells.h"
#include "lib/bloom/sizing.h"

namespace blocksieve::internal {
namespace {

// The largest filter fits a block with the longest footer.
static_assert(CellBytes(kMaxBloomBits, 1) + FooterBytes::kMaxBytes < kMaxFilterBlockBytes);

/// The number of keys in the footer: 0 means "empty", so at least 1 if any cell is set.
uint64_t KeysOf(const BloomLayout& layout, uint64_t num_set) noexcept {
  if (num_set == 0) return 0;
  const double keys = EstimateCardinality(layout, num_set).keys;
  if (!std::isfinite(keys)) return layout.num_bits;
  return std::max(uint64_t{1}, static_cast<uint64_t>(std::llround(keys)));
}

BloomLayout BloomLayoutOf(const FilterInfo& info) noexcept {
  return {.num_bits = info.num_cells,
          .num_probes = info.num_probes,
          .hash_seed = info.hash_seed,
          .design_keys = info.design_keys};
}

// Layout fields: probes (1), bits per counter (1, counting filters only), cells (varint), design
// keys (varint).
void AppendClassicFields(const FilterInfo& info, FooterBytes* footer) noexcept {
  footer->push_back(static_cast<char>(info.num_probes));
  if (info.kind == FilterKind::kCountingBloom) footer->push_back(static_cast<char>(info.cell_bits));
  AppendVarint(footer, info.num_cells);
  AppendVarint(footer, info.design_keys);
}

Status ReadClassicFields(Decoder* fields, FilterInfo* info) {
  info->num_probes = fields->Fixed<uint8_t>();
  info->cell_bits = info->kind == FilterKind::kCountingBloom ? fields->Fixed<uint8_t>() : 1;
  info->num_cells = fields->Varint();
  info->design_keys = fields->Varint();
  if (!fields->ok()) return DamagedBlock("footer is truncated");
  if (Status status = BloomLayoutOf(*info).Check(); !status.ok()) {
    return DamagedBlock(status.message());
  }
  if (info->kind == FilterKind::kCountingBloom && !IsCounterBits(info->cell_bits)) {
    return DamagedBlock("counter_bits is " + std::to_string(info->cell_bits) +
                        "; allowed: 2, 4, 8 or 16");
  }
  const uint64_t cell_bytes = CellBytes(info->num_cells, info->cell_bits);
  const uint64_t expected = info->num_keys == 0 ? 0 : cell_bytes;
  if (cell_bytes > CellBytes(kMaxBloomBits, 1) || info->payload_bytes != expected) {
    return DamagedBlock("payload is " + std::to_string(info->payload_bytes) +
                        " bytes; its footer says " + std::to_string(info->num_cells) +
                        " cells of " + std::to_string(info->cell_bits) + " bits");
  }
  return Status::Ok();
}

double ClassicFpr(const FilterInfo& info) noexcept {
  const double bits_per_key =
      static_cast<double>(info.num_cells) / static_cast<double>(info.num_keys);
  return ClassicBloomFpr(bits_per_key, info.num_probes);
}

template <class Cells>
Cells CellsOf(const FilterView& view) noexcept {
  return Cells(view.data, view.classic_bloom.cell_bits);
}

template <class Cells>
bool MayMatchHash(const FilterView& view, uint64_t hash) noexcept {
  const ClassicBloomView& bloom = view.classic_bloom;
  return AllSet(CellsOf<Cells>(view), bloom.num_cells, bloom.num_probes, hash);
}

template <class Cells>
bool MayMatchKey(const FilterView& view, std::string_view key) noexcept {
  return MayMatchHash<Cells>(view, HashKey(key, view.hash_seed));
}

template <class Cells>
void MayMatchHashes(const FilterView& view, const uint64_t* hashes, size_t num_hashes,
                    bool* may_match) noexcept {
  const ClassicBloomView& bloom = view.classic_bloom;
  AllSet(CellsOf<Cells>(view), bloom.num_cells, bloom.num_probes, hashes, num_hashes, may_match);
}

// One implementation for all kernels: cache misses dominate, one per position.
template <class Cells>
constexpr ProbeOps kProbes = {&MayMatchKey<Cells>, &MayMatchHash<Cells>, &MayMatchHashes<Cells>,
                              &HashAndMatch<&MayMatchHashes<Cells>>};

template <class Cells>
const ProbeOps& Open(const FilterInfo& info, Kernel /*kernel*/, FilterView* view) noexcept {
  view->classic_bloom = {
      .num_cells = info.num_cells, .num_probes = info.num_probes, .cell_bits = info.cell_bits};
  return kProbes<Cells>;
}

// Empty filters have a layout, so that keys can be added to them.
template <class Cells>
constexpr FilterFormat kFormat = {.empty_has_fields = true,
                                  .append_fields = &AppendClassicFields,
                                  .read_fields = &ReadClassicFields,
                                  .predicted_fpr = &ClassicFpr,
                                  .open = &Open<Cells>};

}  // namespace

Result<OwnedBytes> AllocateCells(const BloomLayout& layout, uint32_t cell_bits) try {
  const uint64_t size = CellBytes(layout.num_bits, cell_bits);
  OwnedBytes cells = AllocateBlock(size, 0);
  if (cells.memory == nullptr) {
    return Status::ResourceExhausted("out of memory for a filter of " + std::to_string(size) +
                                     " bytes");
  }
  return cells;
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

constinit const KindEntry kClassicBloomKind = {.kind = FilterKind::kClassicBloom,
                                               .name = "classic",
                                               .format = kFormat<BitCells>,
                                               .sizing = kBloomSizing<FilterKind::kClassicBloom>};
constinit const KindEntry kCountingBloomKind = {
    .kind = FilterKind::kCountingBloom, .name = "counting", .format = kFormat<CounterCells>};

Result<OwnedBytes> WriteBloomBlock(FilterKind kind, const BloomLayout& layout, uint32_t cell_bits,
                                   ByteView cells, uint64_t num_set) try {
  FilterInfo info;
  info.kind = kind;
  info.num_keys = KeysOf(layout, num_set);
  info.hash_seed = layout.hash_seed;
  info.num_probes = layout.num_probes;
  info.num_cells = layout.num_bits;
  info.design_keys = layout.design_keys;
  info.cell_bits = cell_bits;
  if (info.num_keys == 0) cells = {};
  info.payload_bytes = cells.size();
  const FilterFormat& format = FindKind(kind)->format;
  const uint64_t block_bytes = cells.size() + EncodeFooter(info, format).size();
  Result<OwnedBytes> block = AllocateFilterBlock(info, block_bytes, block_bytes, 0);
  if (!block.ok()) return block;
  std::copy(cells.begin(), cells.end(), block->data());
  Seal(info, format, &*block);
  return block;
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

Result<BloomCells> ReadBloomBlock(FilterKind kind, ByteView block) try {
  FilterInfo info;
  if (Status status = ReadFooter(block, &info); !status.ok()) return status;
  if (info.kind != kind) {
    return Status::NotSupported("filter block: kind is " + std::string(FilterKindName(info.kind)) +
                                "; allowed: " + std::string(FilterKindName(kind)));
  }
  if (Status status = CheckPayload(block, info); !status.ok()) return status;
  BloomCells read{.layout = BloomLayoutOf(info), .cell_bits = info.cell_bits, .cells = {}};
  Result<OwnedBytes> cells = AllocateCells(read.layout, read.cell_bits);
  if (!cells.ok()) return cells.status();
  read.cells = *std::move(cells);
  const ByteView payload = block.first(static_cast<size_t>(info.payload_bytes));
  std::copy(payload.begin(), payload.end(), read.cells.data());

  const uint64_t last_bits = read.layout.num_bits * read.cell_bits % 8;
  if (!payload.empty() && last_bits != 0 && payload.back() >> last_bits != 0) {
    return DamagedBlock("bits are set after the last of " + std::to_string(read.layout.num_bits) +
                        " cells");
  }
  return read;
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

}  // namespace blocksieve::internal
