#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/base/kernels.h"
#include "lib/granule/bit_slices.h"
#include "lib/granule/class_tree.h"
#include "lib/granule/sizing.h"
#include "lib/postings/posting.h"
#include "lib/predicate/column_index.h"

// The filters of all granules of a column. Granules with similar numbers of values form a size
// class, whose filters are transposed together; filter i of a class belongs to its i-th granule.

namespace blocksieve::internal {

/// Appends tree and rows. REQUIRES: `classes` is ChooseSizeClasses(values.counts)
void AppendFilters(const GranuleHashes& values, std::span<const SizeClass> classes,
                   uint32_t num_probes, std::string* out);

/// Approximate number of bytes that AppendFilters appends; off by a few per class.
uint64_t FilterBytes(std::span<const SizeClass> classes);

/// A view; does not own the bytes.
class GranuleFilters {
 public:
  /// Opens all of `bytes`. False if they or the number of granules do not match the classes.
  bool Open(ByteView bytes, std::span<const SizeClass> classes, uint32_t num_probes,
            uint64_t num_granules);

  /// Removes candidates whose filters contain none of the hashes.
  void PruneByAny(std::span<const uint64_t> hashes, GranuleSet* candidates, Kernel kernel) const;

  /// Bytes that a probe of one value reads if all granules are candidates.
  uint64_t probe_bytes() const noexcept;

 private:
  ClassTree tree_;
  std::vector<BitSlices> classes_;
};

}  // namespace blocksieve::internal
