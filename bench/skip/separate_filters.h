#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "blocksieve/granule_set.h"

namespace blocksieve::bench {

/// What the transposed filters of a skip index are compared with: the same classic Bloom
/// filters, of the same size and with the same bits, one after the other, asked one granule at a
/// time.
///
/// It is as fast as could be made, and faster than engines are, which store headers and pointers
/// between filters: a value is hashed once for all filters, the filters follow each other in memory
/// and are prefetched, and of the bits of a filter the first three are looked at without branches,
/// since each would be mispredicted half of the time. (Looking at two took up to 1.5 times as long,
/// leaving after each bit up to twice.)
class SeparateFilters {
 public:
  /// Empty filters of `bits_per_filter` bits of which a value sets `num_probes`.
  /// REQUIRES: 3 <= num_probes <= 32
  SeparateFilters(size_t num_filters, uint64_t bits_per_filter, uint32_t num_probes);

  void Add(size_t filter, uint64_t value_hash);

  /// Sets `found` to the filters that contain the value. REQUIRES: of so many granules
  void FindContaining(uint64_t value_hash, GranuleSet* found) const;

  uint64_t num_bytes() const { return num_filters_ * words_per_filter_ * sizeof(uint64_t); }

 private:
  size_t num_filters_;
  uint64_t bits_per_filter_;
  uint32_t num_probes_;
  size_t words_per_filter_;
  std::vector<uint64_t> words_;  // and behind the last filter what prefetching may touch
};

}  // namespace blocksieve::bench
