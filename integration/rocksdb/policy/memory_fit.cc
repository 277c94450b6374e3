// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/policy/filter_bits.h"

#include <malloc.h>

#include <cstdlib>

#include "blocksieve/sizing.h"
#include "integration/rocksdb/compat/table_properties.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// False positives that the layout saves per absent probe of the filter, weighted by keys, in units
// of its target: levels have different rates, and a tree that is planned as a whole wastes most
// reads where these are lowest.
double Gain(const FilterBuilder& builder, uint64_t num_keys, const Layout& layout) {
  return static_cast<double>(num_keys) * (1 - layout.predicted_fpr / builder.options().target_fpr);
}

}  // namespace

MemoryFit::MemoryFit(std::function<size_t(size_t)> usable_bytes)
    : usable_bytes_(std::move(usable_bytes)) {}

size_t MemoryFit::MallocUsableBytes(size_t bytes) {
  void* memory = std::malloc(bytes);
  const size_t usable = memory == nullptr ? bytes : malloc_usable_size(memory);
  std::free(memory);
  return usable;
}

Layout MemoryFit::Fit(const FilterBuilder& builder) {
  const uint64_t num_keys = builder.num_keys();
  const Layout layout = Choose(builder, num_keys);
  balance_.fetch_add(Gain(builder, num_keys, layout), std::memory_order_relaxed);
  return layout;
}

Layout MemoryFit::Choose(const FilterBuilder& builder, uint64_t num_keys) const {
  // A filter that exceeds max_build_bytes is lost, and the share of the hashes is not known here.
  if (num_keys == 0 || builder.options().max_build_bytes != 0) return builder.layout();
  const size_t wanted = static_cast<size_t>(BlockBytes(builder.layout(), num_keys));
  const auto usable = [this](size_t block_bytes) {
    return usable_bytes_(block_bytes + kBlockTrailerBytes) - kBlockTrailerBytes;
  };
  const size_t usable_bytes = usable(wanted);
  const auto layout_of = [&](size_t block_bytes) {
    return LayoutForBlockBytes(builder.options().kind, num_keys, block_bytes);
  };
  const Layout filled = layout_of(usable_bytes);
  if (filled.bits_per_key <= builder.layout().bits_per_key) return builder.layout();

  // The allocation has unused bytes. The next smaller one, if the balance can afford it: size
  // classes of allocators are at most a quarter apart.
  size_t fits = wanted - wanted / 4;
  if (usable(fits) == usable_bytes) return filled;
  for (size_t too_large = wanted; fits + 1 < too_large;) {
    const size_t middle = fits + (too_large - fits) / 2;
    (usable(middle) == usable_bytes ? too_large : fits) = middle;
  }
  const Layout smaller = layout_of(usable(fits));
  const bool is_affordable =
      smaller.predicted_fpr <= kMaxTargetFpr && balance() + Gain(builder, num_keys, smaller) >= 0;
  return is_affordable ? smaller : filled;
}

}  // namespace blocksieve::rocksdb_plugin
