// SPDX-License-Identifier: Apache-2.0
#include "lib/range/range_filter.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lib/base/altered_answers.h"
#include "lib/base/errors.h"
#include "lib/block/footer.h"
#include "lib/range/cells.h"

namespace blocksieve {
namespace internal {
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

/// The form of `keys`. REQUIRES: !keys.empty()
KeyForm FindKeyForm(const SortedKeys& keys) noexcept {
  KeyForm form;
  const size_t length = keys[0].size();
  if (length < KeyForm::kTailBytes || length > UINT16_MAX) return form;
  using Bytes = uint8_t __attribute__((vector_size(16)));  // its minimum is one instruction
  using Words = uint32_t __attribute__((vector_size(16)));
  Bytes highest = {};
  Bytes lowest = ~highest;
  for (const SortedKeys::Entry& key : keys) {
    if (key.size != length) return {};
    uint32_t word = 0;
    std::memcpy(&word, key.bytes + length - KeyForm::kTailBytes, KeyForm::kTailBytes);
    const auto tail = reinterpret_cast<Bytes>(Words{word});
    lowest = tail < lowest ? tail : lowest;
    highest = tail > highest ? tail : highest;
  }
  std::memcpy(form.lowest.data(), &lowest, KeyForm::kTailBytes);
  std::memcpy(form.highest.data(), &highest, KeyForm::kTailBytes);
  form.key_bytes = static_cast<uint16_t>(length);
  return form;
}

/// Appends the section of `keys`, or nothing if a trial shows that the estimated FPR would far
/// exceed the maximum. REQUIRES: !keys.empty()
RangeFilterInfo AppendRangeSection(const SortedKeys& keys, const FilterOptions& options,
                                   std::string* out) {
  RangeFilterInfo info;
  std::string model;
  const CodeSizes sizes = AppendKeyCode(keys, &model);
  Decoder from(AsBytes(model));
  const OrderPreservingCode code(sizes, &from);
  info.num_keys = keys.size();
  info.cells_per_key = CellsPerKey(options.range_fpr);
  info.model_bytes = model.size();
  info.is_whole_file = !options.is_partition;
  const TreeShape trial = TryTree(keys, code, info.cells_per_key);
  if (trial.keys != 0 && EstimatedFpr(trial) > kHopeless * options.max_estimated_range_fpr) {
    info.estimated_fpr = EstimatedFpr(trial);
    return info;
  }
  std::string tree;
  tree.reserve((4 << 10) + static_cast<size_t>(static_cast<double>(keys.size()) / 7.5 *
                                               RangeBitsPerKey(options.range_fpr)));
  const TreeShape shape = AppendTree(keys, code, info.cells_per_key, &tree);
  info.estimated_fpr = EstimatedFpr(shape);

  const KeyForm form = FindKeyForm(keys);
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
  for (size_t i = 0; i < KeyForm::kTailBytes; ++i) {
    out->push_back(static_cast<char>(form.lowest[i]));
    out->push_back(static_cast<char>(form.highest[i]));
  }
  out->append(model);
  out->swap(tree);
  out->insert(0, tree);
  info.bytes = out->size();
  return info;
}

}  // namespace

uint64_t KeyForm::TailsBelow(std::string_view tail) const noexcept {
  uint64_t below = 0;
  bool is_possible = true;  // whether a tail may begin with the bytes so far
  for (size_t i = 0; i < kTailBytes; ++i) {
    uint32_t digit = 0;
    is_possible = is_possible && i < tail.size();
    if (is_possible) {
      const auto byte = static_cast<uint8_t>(tail[i]);
      is_possible = byte >= lowest[i] && byte <= highest[i];
      digit = byte > highest[i] ? NumValues(i) : byte - std::min(byte, lowest[i]);
    }
    below = below * NumValues(i) + digit;
  }
  return below + (is_possible && tail.size() > kTailBytes ? 1 : 0);
}

void KeyForm::SetTail(uint64_t number, char* tail) const noexcept {
  for (size_t i = kTailBytes; i-- > 0; number /= NumValues(i)) {
    tail[i] = static_cast<char>(lowest[i] + number % NumValues(i));
  }
}

}  // namespace internal

Result<RangeFilterBuilder> RangeFilterBuilder::Create(const FilterOptions& options) try {
  return RangeFilterBuilder(options);
}
BLOCKSIEVE_CATCH_BAD_ALLOC

std::string RangeFilterBuilder::WhyNone() const {
  if (!is_sorted_) return "keys are not in bytewise order";
  if (is_too_large_) {
    return options_.max_build_bytes == 0 ? "out of memory"
                                         : "building takes more memory than max_build_bytes = " +
                                               std::to_string(options_.max_build_bytes);
  }
  return keys_.empty() ? "no keys" : "";
}

std::string RangeFilterBuilder::Finish() noexcept try {
  absent_reason_ = WhyNone();
  std::string ranges;
  if (absent_reason_.empty()) {
    const RangeFilterInfo info = internal::AppendRangeSection(keys_, options_, &ranges);
    if (info.estimated_fpr > options_.max_estimated_range_fpr) {
      absent_reason_ = "keys are too similar: estimated FPR of short ranges is " +
                       internal::ShortestText(std::round(1000 * info.estimated_fpr) / 1000) +
                       "; allowed: up to " +
                       internal::ShortestText(options_.max_estimated_range_fpr);
      ranges.clear();
    }
  }
  Reset();
  return ranges;
} catch (const std::bad_alloc&) {
  Reset();
  absent_reason_ = "out of memory";  // short enough for a string without an allocation
  return {};
}

void RangeFilterBuilder::Reset() noexcept {
  keys_.Clear();
  is_sorted_ = true;
  is_too_large_ = false;
}

RangeFilterReader RangeFilterReader::Open(ByteView block, Kernel kernel) noexcept {
  internal::Footer footer;
  if (internal::ParseFooter(block, &footer)) return {};
  return OpenSection(footer.ranges, kernel);
}

RangeFilterReader RangeFilterReader::OpenSection(ByteView section, Kernel kernel) noexcept {
  RangeFilterReader reader;
  reader.is_ready_ = reader.Read(section);
  reader.kernel_ = kernel;
  return reader;
}

/// Reads the head of a section in constant time. False if it is damaged or of a newer version.
bool RangeFilterReader::Read(ByteView section) noexcept {
  if (section.size() < internal::kHeadBytes) return false;
  const uint8_t* const head = section.data();
  const auto keys_and_cells = LoadLittleEndian<uint64_t>(head);
  info_.num_keys = keys_and_cells & internal::LowBits(internal::kKeysBits);
  info_.cells_per_key = tree_.cells_per_key = keys_and_cells >> internal::kKeysBits;
  const auto first_code = LoadLittleEndian<uint64_t>(head + 8);
  const auto last_code = LoadLittleEndian<uint64_t>(head + 16);
  tree_.nodes = LoadLittleEndian<uint32_t>(head + 24);
  form_.key_bytes = LoadLittleEndian<uint16_t>(head + 28);
  info_.estimated_fpr = LoadLittleEndian<uint16_t>(head + 30) * internal::kFprUnit;
  info_.is_whole_file = (head[32] & internal::kIsWholeFile) != 0;
  const internal::CodeSizes sizes{head[33], head[34], head[35]};
  for (size_t i = 0; i < internal::KeyForm::kTailBytes; ++i) {
    form_.lowest[i] = head[36 + 2 * i];
    form_.highest[i] = head[37 + 2 * i];
    if (form_.lowest[i] > form_.highest[i]) return false;
  }
  info_.bytes = section.size();
  Decoder from(section.subspan(internal::kHeadBytes));
  tree_.code = internal::OrderPreservingCode(sizes, &from);
  tree_.bytes = from.rest();
  info_.model_bytes = section.size() - internal::kHeadBytes - from.rest().size();
  return from.ok() && info_.num_keys != 0 && tree_.cells_per_key >= 2 &&
         tree_.cells_per_key <= internal::kMaxCellsPerKey && first_code <= last_code &&
         last_code < internal::OrderPreservingCode::kEnd && tree_.nodes <= from.rest().size() &&
         tree_.Open(first_code, last_code);
}

/// Whether some possible key of the range passes the point filter, or there are too many possible
/// keys to look up.
bool RangeFilterReader::CandidateMayMatch(std::string_view begin, std::string_view end,
                                          const PointFilter& points) const noexcept try {
  return !form_.ForEachKey(begin, end, kMaxCandidates,
                           [&](std::string_view key) { return !points.MayContain(key); });
} catch (const std::bad_alloc&) {
  return true;
}

RangeAnswer RangeFilterReader::Query(std::string_view begin, std::string_view end,
                                     const PointFilter* points) const noexcept {
  if (!is_ready_) return Answer::kMayMatch;
  if (internal::AlteredAnswers() == internal::Answers::kLost) return Answer::kNo;
  // Codes preserve order, so the bytes are compared only where codes are equal.
  const auto codes = tree_.code.Codes(begin, end, 0);
  if (codes.first >= codes.second && begin >= end) return Answer::kMayMatch;
  if (tree_.MayContain(begin, end, codes, kernel_) &&
      (points == nullptr || CandidateMayMatch(begin, end, *points))) {
    return Answer::kMayMatch;
  }
  // A range whose end has a lower code than the last key does not extend past that key.
  if (info_.is_whole_file || codes.second < tree_.root.high) return Answer::kNo;
  return Answer::kBeyond;
}

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
