#include "lib/range/range_part.h"

#include <algorithm>
#include <cmath>

#include "lib/range/cells.h"

namespace blocksieve::internal {
namespace {

// The head has a fixed width, so that queries need not decode it.
constexpr size_t kHeadBytes = 44;
constexpr unsigned kKeysBits = 40;  // low bits of a word; the high bits are cells per key
constexpr uint8_t kIsWholeFile = 1;
constexpr double kFprUnit = 1.0 / 65535;

// If a trial estimates an FPR this many times the maximum, building with all keys is skipped: it
// would not meet the maximum, and takes long, because clusters compute new codes for their keys.
constexpr double kHopeless = 1.5;

/// The number of cells per key with which a short range falls into an occupied cell with
/// probability `range_fpr`.
uint64_t CellsPerKey(double range_fpr) noexcept {
  return std::max<uint64_t>(2, static_cast<uint64_t>(std::ceil(1 / range_fpr)));
}

/// The share of keys that share a cell with another key: ranges between them pass.
double EstimatedFpr(const TreeShape& shape) noexcept {
  return 1 - static_cast<double>(shape.keys_alone) / static_cast<double>(shape.keys);
}

}  // namespace

bool ReadRangePart(ByteView ranges, RangePart* part) noexcept {
  if (ranges.size() < kHeadBytes) return false;
  const uint8_t* const head = ranges.data();
  const auto keys_and_cells = LoadLittleEndian<uint64_t>(head);
  part->info.num_keys = keys_and_cells & LowBits(kKeysBits);
  part->info.cells_per_key = part->tree.cells_per_key = keys_and_cells >> kKeysBits;
  part->tree.first_code = LoadLittleEndian<uint64_t>(head + 8);
  part->tree.last_code = LoadLittleEndian<uint64_t>(head + 16);
  part->tree.nodes = LoadLittleEndian<uint32_t>(head + 24);
  part->form.key_bytes = LoadLittleEndian<uint16_t>(head + 28);
  part->info.estimated_fpr = LoadLittleEndian<uint16_t>(head + 30) * kFprUnit;
  part->info.is_whole_file = (head[32] & kIsWholeFile) != 0;
  const CodeSizes sizes{head[33], head[34], head[35]};
  for (size_t i = 0; i < KeyForm::kTailBytes; ++i) {
    part->form.tail[i] = {head[36 + 2 * i], head[37 + 2 * i]};
  }
  part->info.bytes = ranges.size();
  Decoder from(ranges.subspan(kHeadBytes));
  part->tree.code = OrderPreservingCode(sizes, &from);
  part->tree.bytes = from.rest();
  part->info.model_bytes = ranges.size() - kHeadBytes - from.rest().size();
  return from.ok() && part->info.num_keys != 0 && part->tree.cells_per_key >= 2 &&
         part->tree.cells_per_key <= kMaxCellsPerKey &&
         part->tree.first_code <= part->tree.last_code &&
         part->tree.last_code < OrderPreservingCode::kEnd && part->tree.nodes <= from.rest().size();
}

RangeFilterInfo AppendRangePart(const SortedKeys& keys, const RangePartOptions& options,
                                std::string* out) {
  RangeFilterInfo info;
  std::string model;
  const CodeSizes sizes = AppendKeyCode(keys, &model);
  Decoder from(AsBytes(model));
  const OrderPreservingCode code(sizes, &from);
  info.num_keys = keys.size();
  info.cells_per_key = CellsPerKey(options.range_fpr);
  info.model_bytes = model.size();
  info.is_whole_file = options.is_whole_file;
  const TreeShape trial = TryTree(keys, code, info.cells_per_key);
  if (trial.keys != 0 && EstimatedFpr(trial) > kHopeless * options.max_estimated_fpr) {
    info.estimated_fpr = EstimatedFpr(trial);
    return info;
  }
  std::string tree;
  const TreeShape shape = AppendTree(keys, code, info.cells_per_key, &tree);
  info.estimated_fpr = EstimatedFpr(shape);

  const KeyForm form = FormOf(keys);
  AppendLittleEndian(out, info.num_keys | info.cells_per_key << kKeysBits);
  AppendLittleEndian(out, code.Code(keys[0], 0));
  AppendLittleEndian(out, code.Code(keys.back(), 0));
  AppendLittleEndian(out, shape.root_bytes);
  AppendLittleEndian(out, form.key_bytes);
  AppendLittleEndian(out, static_cast<uint16_t>(std::lround(info.estimated_fpr / kFprUnit)));
  for (const uint8_t byte : {uint8_t{info.is_whole_file ? kIsWholeFile : uint8_t{0}}, sizes.symbols,
                             sizes.prefix_bytes, sizes.positions}) {
    out->push_back(static_cast<char>(byte));
  }
  for (const KeyForm::Bytes& bytes : form.tail) {
    out->push_back(static_cast<char>(bytes.lowest));
    out->push_back(static_cast<char>(bytes.highest));
  }
  out->append(model);
  out->append(tree);
  info.bytes = out->size();
  return info;
}

}  // namespace blocksieve::internal

namespace blocksieve {

double RangeBitsPerKey(double range_fpr) noexcept {
  const auto cells = static_cast<double>(internal::CellsPerKey(range_fpr));
  const double low_bits = std::floor(std::log2(cells));
  // A share of 1 / (2 cells) of a leaf's keys are second keys of their cell. A leaf has a head of
  // 20 bits, and 12 bytes in its node.
  const double keys_per_leaf = static_cast<double>(internal::kLeafCells) / (1 - 1 / (2 * cells));
  const double leaf_bits =
      static_cast<double>(internal::kLeafCells) * (1 + low_bits + cells / std::exp2(low_bits)) +
      8 * 12 + 20;
  return leaf_bits / keys_per_leaf;
}

}  // namespace blocksieve
