#include "integration/rocksdb/policy/memory_fit.h"

#include <malloc.h>

#include <cstdlib>

namespace blocksieve::rocksdb_plugin {
namespace {

// RocksDB reads a block together with these bytes of its own, a compression type and a checksum.
constexpr size_t kBlockTrailerBytes = 5;

// The smallest size to try, in sixteenths. Size classes of allocators are at most a quarter apart.
constexpr size_t kFewestSixteenths = 12;

Layout WithBlockBytes(const FilterBuilder& builder, size_t block_bytes) {
  return builder.LayoutForBlockBytes(builder.num_keys(), block_bytes);
}

}  // namespace

MemoryFit::MemoryFit(std::function<size_t(size_t)> usable_bytes)
    : usable_bytes_(std::move(usable_bytes)) {}

size_t MemoryFit::AskMalloc(size_t bytes) {
  void* memory = std::malloc(bytes);
  const size_t usable = memory == nullptr ? bytes : malloc_usable_size(memory);
  std::free(memory);
  return usable;
}

Layout MemoryFit::Fit(const FilterBuilder& builder) {
  const double num_keys = static_cast<double>(builder.num_keys());
  // A filter that exceeds a budget is lost, and how much of it the hashes leave is not known here.
  if (num_keys == 0 || builder.options().max_build_bytes != 0) return builder.layout();
  const double target = builder.options().target_fpr;
  const size_t wanted = static_cast<size_t>(builder.BlockBytes(builder.num_keys()));
  const auto fill = [&](size_t block_bytes) {
    return WithBlockBytes(builder,
                          usable_bytes_(block_bytes + kBlockTrailerBytes) - kBlockTrailerBytes);
  };
  const auto gain = [&](const Layout& layout) {
    return num_keys * (target - layout.predicted_fpr);
  };

  Layout chosen = fill(wanted);
  if (chosen.bits_per_key <= builder.layout().bits_per_key) {
    chosen = builder.layout();
  } else {
    // There is waste to avoid: can the balance afford a smaller allocation?
    const double affordable = -balance();
    for (size_t sixteenths = kFewestSixteenths; sixteenths < 16; ++sixteenths) {
      const Layout smaller = fill(wanted * sixteenths / 16);
      if (smaller.bits_per_key >= chosen.bits_per_key) break;
      if (smaller.predicted_fpr <= kMaxTargetFpr && gain(smaller) >= affordable) {
        chosen = smaller;
        break;
      }
    }
  }
  balance_.fetch_add(gain(chosen), std::memory_order_relaxed);
  return chosen;
}

}  // namespace blocksieve::rocksdb_plugin
