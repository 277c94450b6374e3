#include "blocksieve/filter_builder.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "blocksieve/filter_block.h"
#include "blocksieve/filter_reader.h"
#include "blocksieve/hash.h"
#include "lib/base/block_memory.h"
#include "lib/base/errors.h"
#include "lib/bloom/blocked_bloom.h"
#include "lib/filter/format_of.h"
#include "lib/ribbon/block.h"

namespace blocksieve {
namespace {

// What BlockBytes and Finish share.
FilterInfo Plan(const FilterOptions& options, const Layout& layout, uint64_t num_keys) noexcept {
  return layout.kind == FilterKind::kRibbon
             ? internal::PlanRibbon(layout, num_keys, options.hash_seed)
             : internal::PlanBlockedBloom(layout, num_keys, options.hash_seed);
}

uint64_t FooterSize(const FilterInfo& plan) noexcept {
  return internal::FooterBytesOf(plan, internal::FormatOf(plan.kind));
}

}  // namespace

Result<FilterBuilder> FilterBuilder::Create(const FilterOptions& options) try {
  if (options.kind != FilterKind::kBlockedBloom && options.kind != FilterKind::kRibbon) {
    return Status::InvalidArgument("kind is " + std::string(FilterKindName(options.kind)) +
                                   "; allowed is bloom or ribbon");
  }
  const Result<Layout> layout = ChooseLayout(options.kind, options.target_fpr);
  if (!layout.ok()) return layout.status();
  return FilterBuilder(options, *layout);
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

void FilterBuilder::AddKey(std::string_view key) { AddHash(HashKey(key, options_.hash_seed)); }

Result<OwnedBytes> FilterBuilder::Finish(const Layout& layout) try {
  internal::HashList hashes = std::exchange(hashes_, internal::HashList(options_.max_build_bytes));
  built_hashes_.Clear();
  fallback_reason_.clear();
  const uint64_t num_keys = num_keys_;
  std::atomic_ref(num_keys_).store(0, std::memory_order_relaxed);
  if (layout.kind != FilterKind::kRibbon || num_keys == 0 || hashes.exhausted()) {
    return FinishBlockedBloom(layout, num_keys, std::move(hashes));
  }
  Result<OwnedBytes> block = internal::BuildRibbonBlock(
      &hashes, options_.keep_hashes, layout, options_.hash_seed, options_.max_build_bytes);
  if (block.ok()) {
    if (options_.keep_hashes) built_hashes_ = std::move(hashes);
    return block;
  }
  const Result<Layout> bloom =
      ChooseLayout(FilterKind::kBlockedBloom, std::max(layout.predicted_fpr, kMinTargetFpr));
  if (hashes.size() != num_keys || !bloom.ok()) return block.status();
  fallback_reason_ = block.status().message();
  return FinishBlockedBloom(*bloom, num_keys, std::move(hashes));
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Result<OwnedBytes> FilterBuilder::FinishBlockedBloom(const Layout& layout, uint64_t num_keys,
                                                     internal::HashList hashes) {
  const FilterInfo plan = Plan(options_, layout, num_keys);
  const uint64_t block_bytes = plan.payload_bytes + FooterSize(plan);
  const uint64_t build_bytes =
      hashes.exhausted() ? internal::kExhausted : hashes.memory_bytes() + block_bytes;
  Result<OwnedBytes> block =
      internal::AllocateFilterBlock(plan, block_bytes, build_bytes, options_.max_build_bytes);
  if (!block.ok()) return block;
  // A ribbon of no keys comes here, too, and has nothing to fill.
  if (num_keys > 0) internal::FillBlockedBloom(plan, hashes, block->data());
  internal::Seal(plan, internal::FormatOf(plan.kind), &*block);
  if (options_.keep_hashes) built_hashes_ = std::move(hashes);
  return block;
}

Status FilterBuilder::VerifyBuilt(ByteView block) const try {
  assert(options_.keep_hashes && num_keys_ == 0);
  if (Status status = VerifyFilterBlock(block); !status.ok()) return status;
  const FilterReader reader = FilterReader::Open(block);
  bool all_match = true;
  built_hashes_.ForEachRun([&](std::span<const uint64_t> run) {
    for (const uint64_t hash : run) all_match = all_match && reader.MayMatchHash(hash);
  });
  if (!all_match) return Status::Corruption("filter block: a key that was added does not match");
  return Status::Ok();
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

uint64_t FilterBuilder::BlockBytes(const Layout& layout, uint64_t num_keys) const noexcept {
  if (PayloadBytes(layout, num_keys) >= uint64_t{1} << 63) return UINT64_MAX;
  const FilterInfo plan = Plan(options_, layout, num_keys);
  return plan.payload_bytes + FooterSize(plan);
}

uint64_t FilterBuilder::MaxKeys(uint64_t block_bytes) const noexcept {
  // The footer's length depends on the number of keys, by a few bytes: start from what the payload
  // alone would hold and step down to where both fit.
  uint64_t payload_bytes = block_bytes;
  while (payload_bytes > 0) {
    const uint64_t num_keys = blocksieve::MaxKeys(layout_, payload_bytes);
    const uint64_t needed = BlockBytes(num_keys);
    if (num_keys == 0 || needed <= block_bytes) return num_keys;
    const uint64_t excess = needed - block_bytes;
    payload_bytes = payload_bytes > excess ? payload_bytes - excess : 0;
  }
  return 0;
}

Layout FilterBuilder::LayoutForBlockBytes(uint64_t num_keys, uint64_t block_bytes) const {
  if (options_.kind == FilterKind::kRibbon) {
    const double most_bits =
        8.0 * static_cast<double>(block_bytes) / static_cast<double>(num_keys == 0 ? 1 : num_keys);
    Result<Layout> fits = LayoutForBitsPerKey(options_.kind, most_bits);
    // Rows are a sixteenth apart, and what a block has beyond them is far less than a bit per key,
    // but for tiny ones: a few steps. Blocks vary by a few slots and in where wide segments begin.
    const uint64_t slots = 8 + num_keys / 8192;
    while (fits.ok() &&
           BlockBytes(*fits, num_keys) + slots * (fits->num_probes + 1) / 8 + 6 > block_bytes) {
      fits = LayoutForBitsPerKey(options_.kind, fits->bits_per_key - 1.0 / 16);
    }
    return fits.ok() ? *fits : *ChooseLayout(options_.kind, kMaxTargetFpr);
  }
  // The footer's length depends on the layout by the length of a length only: allow for the
  // longest.
  FilterInfo plan = Plan(options_, layout_, num_keys);
  plan.payload_bytes = block_bytes;
  const uint64_t footer_bytes = FooterSize(plan);
  uint64_t payload_bytes = block_bytes > footer_bytes ? block_bytes - footer_bytes : 0;
  payload_bytes -= internal::LeadBytes(payload_bytes);
  const uint64_t whole_lines = payload_bytes / internal::kLineBytes * internal::kLineBytes;
  const double bits_per_key =
      8.0 * static_cast<double>(whole_lines) / static_cast<double>(num_keys == 0 ? 1 : num_keys);
  const Result<Layout> layout = LayoutForBitsPerKey(options_.kind, bits_per_key);
  return layout.ok() ? *layout : *ChooseLayout(options_.kind, kMaxTargetFpr);
}

double FilterBuilder::EstimateFpr(uint64_t num_keys, uint64_t block_bytes) const {
  return num_keys == 0 ? 0 : LayoutForBlockBytes(num_keys, block_bytes).predicted_fpr;
}

}  // namespace blocksieve
