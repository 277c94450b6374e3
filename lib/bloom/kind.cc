// SPDX-License-Identifier: Apache-2.0
#include "lib/bloom/kind.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>

#include "lib/base/block_memory.h"
#include "lib/bloom/blocked_bloom.h"

namespace blocksieve::internal {
namespace {

// The first field has the number of probes less one, and a flag.
constexpr uint8_t kProbesMask = 0x0f;
constexpr uint8_t kHasPadding = 0x10;

Problem ReadFields(const Footer& footer, BloomState* state) noexcept {
  if (footer.is_short) return {"kind without short blocks", /*is_newer=*/true};
  Decoder fields(footer.fields);
  const auto first = fields.Fixed<uint8_t>();
  const uint32_t num_probes = (first & kProbesMask) + 1;
  const uint32_t padding_bytes = (first & kHasPadding) != 0 ? kPaddingBytes : 0;
  const uint64_t num_lines = fields.Varint();
  if (!fields.ok() || !fields.rest().empty() || first > (kProbesMask | kHasPadding)) {
    return {"fields of the Bloom filter are not as specified"};
  }
  // Kernels count lines in 32 bits, enough for any allowed block.
  const uint64_t line_bytes = footer.points.size() - padding_bytes;
  if (footer.points.size() < padding_bytes + kLineBytes ||
      footer.points.size() >= kMaxFilterBlockBytes || line_bytes % kLineBytes != 0 ||
      line_bytes / kLineBytes != num_lines) {
    return {"size of the Bloom filter is not its number of 64-byte lines"};
  }
  *state = MakeBloomState(footer.points.data() + padding_bytes, num_lines, num_probes);
  return {};
}

void AppendFields(uint32_t num_probes, uint32_t padding_bytes, uint64_t num_lines,
                  FieldBytes* fields) noexcept {
  fields->push_back(static_cast<char>((num_probes - 1) | (padding_bytes > 0 ? kHasPadding : 0)));
  AppendVarint(fields, num_lines);
}

// Rows are 1/16 bit per key apart: 0.6 % of a filter of 10 bits per key, in integer arithmetic.
constexpr uint32_t kRowsPerBit = 16;

#include "lib/bloom/sizing_table.inc"

// Every accepted target has a row, so that a message can name one range for all kinds.
static_assert(std::end(kFprs)[-1] <= kMinTargetFpr);

constexpr size_t kNumRows = std::size(kFprs);

/// Rows are in ascending order of size and accuracy.
Layout MakeLayout(size_t row) noexcept {
  const size_t sixteenths = kFirstRow + row;
  const auto* const more = std::upper_bound(std::begin(kProbes), std::end(kProbes), sixteenths);
  return {FilterKind::kBlockedBloom, static_cast<double>(sixteenths) / kRowsPerBit,
          static_cast<uint32_t>(more - std::begin(kProbes)), kFprs[row]};
}

}  // namespace

constinit const std::array<PatternRow, kMaxLineProbes> kPatternRows = [] {
  std::array<PatternRow, kMaxLineProbes> rows{};
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < kMaxLineProbes; ++j) {
      rows[i].factors[j] = kPatternFactors[j <= i ? j : 0];
      rows[i].ones[j] = 1;
    }
  }
  return rows;
}();

FillFunction BlockedBloomFill(Kernel kernel, uint32_t num_probes) noexcept {
  assert(num_probes >= 1 && num_probes <= kMaxLineProbes);
#if defined(__x86_64__)
  if (kernel == Kernel::kAvx512) return kBlockedBloomFillAvx512[num_probes - 1];
#endif
  static_cast<void>(kernel);
  return kBlockedBloomFillScalar[num_probes - 1];
}

const ProbeOps& BlockedBloomOps(Kernel kernel, [[maybe_unused]] uint32_t num_probes) noexcept {
  assert(IsAvailable(kernel));
  switch (kernel) {
#if defined(__x86_64__)
    case Kernel::kAvx2:
      return num_probes <= 8 ? kBlockedBloomAvx2By8 : kBlockedBloomAvx2By16;
    case Kernel::kAvx512:
      return num_probes <= 8 ? kBlockedBloomAvx512By8 : kBlockedBloomAvx512By16;
#elif defined(__aarch64__)
    case Kernel::kNeon:
      return kBlockedBloomNeon;
#endif
    default:
      return kBlockedBloomScalar;
  }
}

Layout BloomKind::ChooseLayout(double target_fpr) {
  const auto* const row = std::lower_bound(std::begin(kFprs), std::end(kFprs), target_fpr,
                                           [](double fpr, double target) { return fpr > target; });
  return MakeLayout(static_cast<size_t>(row - std::begin(kFprs)));
}

double BloomKind::MinBitsPerKey() { return double{kFirstRow} / kRowsPerBit; }

Layout BloomKind::LayoutForBitsPerKey(double bits_per_key) {
  const double row = std::min<double>(kNumRows - 1, bits_per_key * kRowsPerBit - kFirstRow);
  return MakeLayout(static_cast<size_t>(row));
}

uint64_t BloomKind::PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept {
  using Wide = unsigned __int128;
  constexpr Wide kSixteenthsPerLine = Wide{kLineBytes} * 8 * kRowsPerBit;
  // Rounded up, and clamped so that all products stay below 2^128.
  const double per_key = std::ceil(layout.bits_per_key * kRowsPerBit);
  const Wide sixteenths =
      Wide{num_keys} * (per_key >= 1 ? static_cast<uint64_t>(std::min(per_key, 0x1p32)) : 1);
  const Wide bytes = (sixteenths + kSixteenthsPerLine - 1) / kSixteenthsPerLine * kLineBytes;
  return static_cast<uint64_t>(std::min<Wide>(bytes, UINT64_MAX));
}

std::string BloomKind::LayoutText(const Layout& layout) {
  return "k = " + std::to_string(layout.num_probes);
}

BlockPlan BloomKind::Plan(const Layout& layout, uint64_t num_keys) noexcept {
  const uint64_t line_bytes = PayloadBytes(layout, num_keys);
  BlockPlan plan{.kind = kKind, .num_keys = num_keys};
  plan.padding_bytes = PaddingBytes(line_bytes);
  plan.points_bytes = plan.capacity = plan.padding_bytes + line_bytes;
  AppendFields(layout.num_probes, plan.padding_bytes, line_bytes / kLineBytes, &plan.fields);
  return plan;
}

std::string BloomKind::Build(HashList* hashes, bool /*keep*/, const Layout& layout, uint8_t* out,
                             BlockPlan* plan) {
  const FillFunction fill = BlockedBloomFill(ActiveKernel(), layout.num_probes);
  const uint64_t num_lines = (plan->points_bytes - plan->padding_bytes) / kLineBytes;
  hashes->ForEachRun(
      [&](std::span<const uint64_t> run) { fill(run, num_lines, out + plan->padding_bytes); });
  return "";
}

Problem BloomKind::Open(const Footer& footer, Kernel kernel, PointFilter* filter) noexcept {
  BloomState state;
  const Problem problem = ReadFields(footer, &state);
  if (!problem) *filter = PointFilter(BlockedBloomOps(kernel, state.num_probes), state);
  return problem;
}

void BloomKind::Describe(const Footer& footer, FilterDescription* description) noexcept {
  BloomState state;
  [[maybe_unused]] const Problem problem = ReadFields(footer, &state);
  assert(!problem);
  const auto bits = static_cast<double>(8 * kLineBytes * state.num_lines);
  description->num_keys = footer.num_keys;
  description->predicted_fpr =
      BlockedBloomFpr(bits / static_cast<double>(footer.num_keys), state.num_probes);
}

}  // namespace blocksieve::internal
