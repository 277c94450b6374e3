#include "lib/range/range_part.h"

#include <algorithm>
#include <cmath>

#include "lib/range/cells.h"

namespace blocksieve::internal {
namespace {

constexpr uint8_t kIsWholeFile = 1;
constexpr double kFprUnit = 1.0 / 65535;

/// A range falls into a cell with a key of a filter of such cells with this probability.
uint64_t CellsPerKey(double range_fpr) noexcept {
  return std::max<uint64_t>(2, static_cast<uint64_t>(std::ceil(-1 / std::log1p(-range_fpr))));
}

/// The length of all keys; 0 if they are not of one.
uint64_t KeyBytes(const SortedKeys& keys) noexcept {
  for (size_t i = 1; i < keys.size(); ++i) {
    if (keys[i].size() != keys[0].size()) return 0;
  }
  return keys[0].size();
}

}  // namespace

bool ReadRangePart(ByteView ranges, RangePart* part) noexcept {
  if (ranges.size() < kCellSlackBytes) return false;
  Decoder from(ranges.first(ranges.size() - kCellSlackBytes));
  part->info.num_keys = from.Varint();
  part->info.cells_per_key = part->tree.cells_per_key = from.Varint();
  part->key_bytes = from.Varint();
  const auto flags = from.Fixed<uint8_t>();
  part->info.is_whole_file = (flags & kIsWholeFile) != 0;
  part->info.estimated_fpr = from.Fixed<uint16_t>() * kFprUnit;
  part->info.bytes = ranges.size();
  part->tree.first_code = from.Fixed<uint64_t>();
  part->tree.last_code = from.Fixed<uint64_t>();
  const size_t before = from.rest().size();
  part->tree.code = KeyCode::Read(&from);
  part->info.model_bytes = before - from.rest().size();
  part->tree.bytes = from.rest();
  const uint64_t root_bytes = from.Varint();
  part->tree.root = part->tree.bytes.size() - from.rest().size();
  part->tree.nodes = part->tree.root + root_bytes;
  return from.ok() && part->info.num_keys != 0 && part->tree.cells_per_key >= 2 &&
         part->tree.cells_per_key <= kMostCellsPerKey &&
         part->tree.first_code <= part->tree.last_code && part->tree.last_code < KeyCode::kEnd &&
         root_bytes <= from.rest().size();
}

RangeFilterInfo AppendRangePart(const SortedKeys& keys, const RangePartOptions& options,
                                std::string* out) {
  RangeFilterInfo info;
  std::string model;
  AppendKeyCode(keys, &model);
  Decoder from(AsBytes(model));
  const KeyCode code = KeyCode::Read(&from);
  info.num_keys = keys.size();
  info.cells_per_key = CellsPerKey(options.range_fpr);
  info.model_bytes = model.size();
  info.is_whole_file = options.is_whole_file;
  std::string tree;
  const TreeShape shape = AppendTree(keys, code, info.cells_per_key, &tree);
  info.estimated_fpr = 1 - static_cast<double>(shape.keys_alone) / static_cast<double>(keys.size());

  AppendVarint(out, info.num_keys);
  AppendVarint(out, info.cells_per_key);
  AppendVarint(out, KeyBytes(keys));
  out->push_back(static_cast<char>(info.is_whole_file ? kIsWholeFile : 0));
  AppendLittleEndian(out, static_cast<uint16_t>(std::lround(info.estimated_fpr / kFprUnit)));
  AppendLittleEndian(out, code.Code(keys[0], 0));
  AppendLittleEndian(out, code.Code(keys.back(), 0));
  out->append(model);
  out->append(tree);
  out->append(kCellSlackBytes, '\0');
  info.bytes = out->size();
  return info;
}

}  // namespace blocksieve::internal

namespace blocksieve {

double RangeBitsPerKey(double range_fpr) noexcept {
  const auto cells = static_cast<double>(internal::CellsPerKey(range_fpr));
  const double low_bits = std::floor(std::log2(cells));
  // Of the cells of a leaf few hold two keys; twelve bytes of a leaf say where it is.
  const double keys_per_leaf = static_cast<double>(internal::kLeafCells) / (1 - 1 / (2 * cells));
  const double leaf_bits =
      static_cast<double>(internal::kLeafCells) * (1 + low_bits + cells / std::exp2(low_bits)) +
      8 * 12 + 20;
  return leaf_bits / keys_per_leaf;
}

}  // namespace blocksieve
