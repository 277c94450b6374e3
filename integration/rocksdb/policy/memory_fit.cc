#include "integration/rocksdb/policy/filter_bits.h"

#include <malloc.h>

#include <cstdlib>

#include "blocksieve/sizing.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// RocksDB reads a block together with its trailer: a compression type and a checksum.
constexpr size_t kBlockTrailerBytes = 5;

// The smallest size to try, in sixteenths. Size classes of allocators are at most a quarter apart.
constexpr size_t kMinSixteenths = 12;

// False positives that the layout saves per absent probe of the filter, weighted by keys.
double Gain(const FilterBuilder& builder, uint64_t num_keys, const Layout& layout) {
  return static_cast<double>(num_keys) * (builder.options().target_fpr - layout.predicted_fpr);
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
  const auto fill = [&](size_t block_bytes) {
    return LayoutForBlockBytes(
        builder.options().kind, num_keys,
        usable_bytes_(block_bytes + kBlockTrailerBytes) - kBlockTrailerBytes);
  };

  const Layout filled = fill(wanted);
  if (filled.bits_per_key <= builder.layout().bits_per_key) return builder.layout();
  // The allocation has unused bytes. Look for a smaller one that the balance can afford.
  const double affordable = -balance();
  for (size_t sixteenths = kMinSixteenths; sixteenths < 16; ++sixteenths) {
    const Layout smaller = fill(wanted * sixteenths / 16);
    if (smaller.bits_per_key >= filled.bits_per_key) break;
    if (smaller.predicted_fpr <= kMaxTargetFpr && Gain(builder, num_keys, smaller) >= affordable) {
      return smaller;
    }
  }
  return filled;
}

}  // namespace blocksieve::rocksdb_plugin
