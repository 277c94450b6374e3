#include "lib/bloom/classic_probe.h"

#include <string_view>

#include "blocksieve/hash.h"

namespace blocksieve::internal {
namespace {

template <class Cells>
Cells CellsOf(const FilterView& view) noexcept {
  return Cells(view.data, view.classic_bloom.cell_bits);
}

template <class Cells>
bool MayMatchHash(const FilterView& view, uint64_t hash) noexcept {
  const ClassicBloomView& bloom = view.classic_bloom;
  return AllSet(CellsOf<Cells>(view), bloom.num_cells, bloom.num_probes, hash);
}

template <class Cells>
bool MayMatchKey(const FilterView& view, std::string_view key) noexcept {
  return MayMatchHash<Cells>(view, HashKey(key, view.hash_seed));
}

template <class Cells>
void MayMatchHashes(const FilterView& view, const uint64_t* hashes, size_t num_hashes,
                    bool* may_match) noexcept {
  const ClassicBloomView& bloom = view.classic_bloom;
  AllSet(CellsOf<Cells>(view), bloom.num_cells, bloom.num_probes, hashes, num_hashes, may_match);
}

}  // namespace

// One for all kernels: what takes time is cache misses, of which each position is one of its own.
const ProbeOps kClassicBloomProbes = {&MayMatchKey<BitCells>, &MayMatchHash<BitCells>,
                                      &MayMatchHashes<BitCells>};
const ProbeOps kCountingBloomProbes = {&MayMatchKey<CounterCells>, &MayMatchHash<CounterCells>,
                                       &MayMatchHashes<CounterCells>};

}  // namespace blocksieve::internal
