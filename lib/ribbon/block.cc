#include <cassert>
#include <cstring>
#include <string>

#include "lib/base/block_memory.h"
#include "lib/base/errors.h"
#include "lib/base/kernels.h"
#include "lib/block/short_block.h"
#include "lib/ribbon/builder.h"
#include "lib/ribbon/probe.h"
#include "lib/ribbon/sizing.h"

namespace blocksieve::internal {
namespace {

// Up to this number of keys, the hashes are kept until the filter is built, so that another kind
// can be built from them if it fails, and the block is copied to its exact size: half a megabyte
// for a while. Larger filters have too many chunks for the failure of one to matter.
constexpr uint64_t kSmallFilterKeys = 1 << 16;

OwnedBytes CutToSize(OwnedBytes block, uint64_t padding) {
  OwnedBytes cut = AllocateBlock(block.size, padding);
  if (cut.memory == nullptr) return block;
  std::memcpy(cut.data(), block.data(), block.size);
  return cut;
}

double Fpr(const FilterInfo& info) noexcept {
  return RibbonFpr(info.ribbon.columns, RibbonWideShare(info.ribbon));
}

const ProbeOps& Open(const FilterInfo& info, Kernel kernel, FilterView* view) noexcept {
  view->ribbon = MakeRibbonView(info.ribbon, view->data);
  return RibbonOpsFor(kernel, info.ribbon);
}

std::string LayoutText(const Layout& layout) {
  return std::to_string(layout.num_probes) + " whole column" + (layout.num_probes == 1 ? "" : "s");
}

// Blocks vary by a few slots, and by the start of the wide segments.
uint64_t ExcessBytes(const Layout& layout, uint64_t num_keys) noexcept {
  const uint64_t slots = 8 + num_keys / 8192;
  return slots * (layout.num_probes + 1) / 8 + 6;
}

FilterInfo Plan(const Layout& layout, uint64_t num_keys) noexcept {
  FilterInfo plan;
  plan.kind = FilterKind::kRibbon;
  plan.num_keys = num_keys;
  if (num_keys == 0) return plan;
  plan.ribbon = ExpectedRibbonShape(NearestRibbonLayout(layout), num_keys);
  const uint64_t payload_bytes = RibbonPayloadBytes(layout, num_keys);
  plan.padding_bytes = PaddingBytes(payload_bytes);
  plan.payload_bytes = plan.padding_bytes + payload_bytes;
  return plan;
}

uint64_t WorkingBytes(const Layout& layout, uint64_t num_keys) noexcept {
  return RibbonWorkingBytes(NearestRibbonLayout(layout), num_keys);
}

Result<OwnedBytes> Build(HashList* hashes, bool keep, const Layout& layout,
                         uint64_t max_build_bytes) try {
  const uint64_t num_keys = hashes->size();
  assert(num_keys > 0);
  FilterInfo info = Plan(layout, num_keys);
  const Layout row = NearestRibbonLayout(layout);
  const uint64_t capacity =
      info.padding_bytes + RibbonCapacity(row, num_keys) + FooterBytes::kMaxBytes;
  const bool is_small = num_keys <= kSmallFilterKeys;
  const bool keep_meanwhile = keep || is_small;
  const uint64_t build_bytes = hashes->memory_bytes() * (keep_meanwhile ? 2 : 1) +
                               RibbonWorkingBytes(row, num_keys) + capacity;
  Result<OwnedBytes> block = AllocateFilterBlock(info, capacity, build_bytes, max_build_bytes);
  if (!block.ok()) return block;

  const RibbonBuild build =
      BuildRibbon(hashes, keep_meanwhile, row, ActiveKernel(), block->data() + info.padding_bytes);
  if (build.always_true_chunks > 0 && keep_meanwhile) {
    return Status::ResourceExhausted("no ribbon found for " +
                                     std::to_string(build.always_true_chunks) + " of " +
                                     std::to_string(build.shape.chunks) + " chunks");
  }
  if (!keep) hashes->Clear();
  info.ribbon = build.shape;
  info.payload_bytes = info.padding_bytes + build.shape.PayloadBytes();
  Seal(info, kRibbonKind.format, &*block);
  return is_small ? CutToSize(*std::move(block), info.padding_bytes) : std::move(block);
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

}  // namespace

constinit const KindEntry kRibbonKind = {
    .kind = FilterKind::kRibbon,
    .name = "ribbon",
    .format = {.append_fields = &AppendRibbonFields,
               .read_fields = &ReadRibbonFields,
               .predicted_fpr = &Fpr,
               .append_short_fields = &AppendShortRibbonFields,
               .read_short_fields = &ReadShortRibbonFields,
               .open = &Open},
    .sizing = KindSizing{.choose_layout = &ChooseRibbonLayout,
                         .layout_for_bits_per_key = &RibbonLayoutForBitsPerKey,
                         .payload_bytes = &RibbonPayloadBytes,
                         .max_keys = &MaxRibbonKeys,
                         .layout_text = &LayoutText},
    .building = KindBuilding{.plan = &Plan,
                             .excess_bytes = &ExcessBytes,
                             .working_bytes = &WorkingBytes,
                             .build = &Build}};

}  // namespace blocksieve::internal
