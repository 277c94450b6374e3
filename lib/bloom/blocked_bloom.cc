#include "lib/bloom/blocked_bloom.h"

#include <array>
#include <cassert>
#include <string>

#include "lib/base/block_memory.h"
#include "lib/base/kernels.h"
#include "lib/bloom/bloom_model.h"
#include "lib/bloom/sizing.h"

namespace blocksieve::internal {
namespace {

uint64_t LinesOf(const FilterInfo& info) noexcept {
  return (info.payload_bytes - info.padding_bytes) / kLineBytes;
}

// Indexed by the number of probes minus 1.
constexpr std::array<PatternRow, kMaxLineProbes> kPatternRows = [] {
  std::array<PatternRow, kMaxLineProbes> rows{};
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < kMaxLineProbes; ++j) {
      rows[i].factors[j] = kPatternFactors[j <= i ? j : 0];
      rows[i].ones[j] = 1;
    }
  }
  return rows;
}();

// Layout fields: probes (1), unused bytes before the first line (1).
void AppendFields(const FilterInfo& info, FooterBytes* footer) noexcept {
  footer->push_back(static_cast<char>(info.num_probes));
  footer->push_back(static_cast<char>(info.padding_bytes));
}

Status ReadFields(Decoder* fields, FilterInfo* info) {
  info->num_probes = fields->Fixed<uint8_t>();
  info->padding_bytes = fields->Fixed<uint8_t>();
  if (!fields->ok()) return DamagedBlock("footer is truncated");
  if (info->num_probes < 1 || info->num_probes > kMaxLineProbes) {
    return DamagedBlock("number of probes is " + std::to_string(info->num_probes) +
                        "; allowed: 1 to " + std::to_string(kMaxLineProbes));
  }
  // Kernels count lines in 32 bits, enough for any allowed block.
  if (info->padding_bytes >= kLineBytes || info->payload_bytes < info->padding_bytes + kLineBytes ||
      (info->payload_bytes - info->padding_bytes) % kLineBytes != 0 ||
      info->payload_bytes >= kMaxFilterBlockBytes) {
    return DamagedBlock("payload is " + std::to_string(info->payload_bytes) + " bytes with " +
                        std::to_string(info->padding_bytes) +
                        " bytes of padding; allowed: whole 64-byte lines below 4 GiB");
  }
  return Status::Ok();
}

double Fpr(const FilterInfo& info) noexcept {
  const double payload_bits = 8.0 * static_cast<double>(info.payload_bytes - info.padding_bytes);
  return BlockedBloomFpr(payload_bits / static_cast<double>(info.num_keys), info.num_probes);
}

const ProbeOps& Open(const FilterInfo& info, Kernel kernel, FilterView* view) noexcept {
  view->blocked_bloom = MakeBlockedBloomView(LinesOf(info), info.num_probes);
  return BlockedBloomOps(kernel, info.num_probes);
}

FilterInfo Plan(const Layout& layout, uint64_t num_keys) noexcept {
  FilterInfo plan;
  plan.kind = FilterKind::kBlockedBloom;
  plan.num_keys = num_keys;
  plan.num_probes = layout.num_probes;
  const uint64_t payload_bytes = BloomPayloadBytes(layout, num_keys);
  plan.padding_bytes = PaddingBytes(payload_bytes);
  plan.payload_bytes = plan.padding_bytes + payload_bytes;
  return plan;
}

Result<OwnedBytes> Build(HashList* hashes, bool /*keep*/, const Layout& layout,
                         uint64_t max_build_bytes) {
  const FilterInfo plan = Plan(layout, hashes->size());
  const FilterFormat& format = kBlockedBloomKind.format;
  const uint64_t block_bytes = plan.payload_bytes + FooterBytesOf(plan, format);
  Result<OwnedBytes> block =
      AllocateFilterBlock(plan, block_bytes, hashes->memory_bytes() + block_bytes, max_build_bytes);
  if (!block.ok()) return block;
  const FillFunction fill = BlockedBloomFill(ActiveKernel(), plan.num_probes);
  uint8_t* lines = block->data() + plan.padding_bytes;
  hashes->ForEachRun([&](std::span<const uint64_t> run) { fill(run, LinesOf(plan), lines); });
  Seal(plan, format, &*block);
  return block;
}

}  // namespace

constinit const KindEntry kBlockedBloomKind = {
    .kind = FilterKind::kBlockedBloom,
    .name = "bloom",
    .format = {.append_fields = &AppendFields,
               .read_fields = &ReadFields,
               .predicted_fpr = &Fpr,
               .open = &Open},
    .sizing = kBloomSizing,
    .building = KindBuilding{.plan = &Plan, .build = &Build}};

FillFunction BlockedBloomFill(Kernel kernel, uint32_t num_probes) noexcept {
  assert(num_probes >= 1 && num_probes <= kMaxLineProbes);
#if defined(__x86_64__)
  if (kernel == Kernel::kAvx512) return kBlockedBloomFillAvx512[num_probes - 1];
#endif
  static_cast<void>(kernel);
  return kBlockedBloomFillScalar[num_probes - 1];
}

BlockedBloomView MakeBlockedBloomView(uint64_t num_lines, uint32_t num_probes) noexcept {
  assert(num_probes >= 1 && num_probes <= kMaxLineProbes);
  return {num_lines, num_probes, &kPatternRows[num_probes - 1]};
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

}  // namespace blocksieve::internal
