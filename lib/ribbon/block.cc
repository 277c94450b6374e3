#include "lib/ribbon/block.h"

#include <cstring>
#include <new>
#include <string>

#include "blocksieve/kernels.h"
#include "lib/base/block_memory.h"
#include "lib/base/out_of_memory.h"
#include "lib/block/filter_footer.h"
#include "lib/hash/checksum.h"
#include "lib/ribbon/builder.h"
#include "lib/ribbon/footer.h"
#include "lib/ribbon/sizing.h"

namespace blocksieve::internal {
namespace {

// Up to here the hashes stay until the filter is made, so that another kind can be built of them
// if this one fails, and the block is cut to its size: half a megabyte for a while. Beyond, there
// are too many chunks for the failure of one to matter.
constexpr uint64_t kSmallFilterKeys = 1 << 16;

constexpr uint64_t kLongestFooter = 80;

OwnedBytes CutToSize(OwnedBytes block, uint64_t lead) {
  OwnedBytes cut = AllocateBlock(block.size, lead);
  if (cut.memory == nullptr) return block;
  std::memcpy(cut.memory.get() + cut.offset, block.memory.get() + block.offset, block.size);
  return cut;
}

}  // namespace

FilterInfo PlanRibbonBlock(const Layout& layout, uint64_t num_keys, uint64_t hash_seed) noexcept {
  FilterInfo info;
  info.kind = FilterKind::kRibbon;
  info.num_keys = num_keys;
  info.hash_seed = hash_seed;
  if (num_keys == 0) return info;
  SetShape(ExpectedRibbonShape(RibbonTargetOf(layout), num_keys), &info);
  const uint64_t payload_bytes = PayloadBytes(layout, num_keys);
  info.lead_bytes = LeadBytes(payload_bytes);
  info.payload_bytes = info.lead_bytes + payload_bytes;
  return info;
}

Result<OwnedBytes> BuildRibbonBlock(HashList* hashes, bool keep, const Layout& layout,
                                    uint64_t hash_seed, uint64_t max_build_bytes) try {
  const uint64_t num_keys = hashes->size();
  FilterInfo info = PlanRibbonBlock(layout, num_keys, hash_seed);
  const RibbonTarget target = RibbonTargetOf(layout);
  const uint64_t capacity = info.lead_bytes + RibbonCapacity(target, num_keys) + kLongestFooter;
  if (capacity >= kMaxFilterBlockBytes) {
    return Status::ResourceExhausted("filter of " + std::to_string(num_keys) + " keys takes " +
                                     std::to_string(capacity) + " bytes; allowed is less than " +
                                     std::to_string(kMaxFilterBlockBytes));
  }
  const bool is_small = num_keys <= kSmallFilterKeys;
  const bool keep_meanwhile = keep || is_small;
  const uint64_t build_bytes = hashes->memory_bytes() * (keep_meanwhile ? 2 : 1) +
                               RibbonWorkingBytes(target, num_keys) + capacity;
  if (max_build_bytes != 0 && build_bytes > max_build_bytes) {
    return Status::ResourceExhausted("building a ribbon of " + std::to_string(num_keys) +
                                     " keys takes " + std::to_string(build_bytes) +
                                     " bytes; max_build_bytes is " +
                                     std::to_string(max_build_bytes));
  }
  OwnedBytes block = AllocateBlock(capacity, info.lead_bytes);
  if (block.memory == nullptr) throw std::bad_alloc();

  auto* const bytes = reinterpret_cast<uint8_t*>(block.memory.get()) + block.offset;
  const RibbonBuild build =
      BuildRibbon(hashes, keep_meanwhile, target, ActiveKernel(), bytes + info.lead_bytes);
  if (build.open_chunks > 0 && keep_meanwhile) {
    return Status::ResourceExhausted("no ribbon found for " + std::to_string(build.open_chunks) +
                                     " of " + std::to_string(build.shape.chunks) + " chunks");
  }
  if (!keep) hashes->Clear();

  SetShape(build.shape, &info);
  info.payload_bytes = info.lead_bytes + build.shape.PayloadBytes();
  info.payload_checksum = Checksum({bytes, static_cast<size_t>(info.payload_bytes)});
  const std::string footer = EncodeFooter(info);
  std::memcpy(bytes + info.payload_bytes, footer.data(), footer.size());
  block.size = static_cast<size_t>(info.payload_bytes + footer.size());
  return is_small ? CutToSize(std::move(block), info.lead_bytes) : std::move(block);
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

}  // namespace blocksieve::internal
