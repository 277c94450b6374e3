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
// class, whose filters are transposed together; filter i of a class is that of its i-th granule.
//   the class of each granule (ClassTree) | the rows of each class, from the smallest class on

namespace blocksieve::internal {

/// Appends tree and rows. REQUIRES: `classes` are those that ChooseSizeClasses gave for the counts.
void AppendFilters(const GranuleHashes& values, std::span<const SizeClass> classes,
                   uint32_t num_probes, std::string* out);

/// The bytes that AppendFilters appends, give or take a few per class.
uint64_t FilterBytes(std::span<const SizeClass> classes);

/// A view; the bytes belong to somebody else.
class GranuleFilters {
 public:
  /// Opens all of `bytes`. False if the classes do not fit them or the number of granules.
  bool Open(ByteView bytes, std::span<const SizeClass> classes, uint32_t num_probes,
            uint64_t num_granules);

  /// Removes the candidates that contain none of the values.
  void PruneByAny(std::span<const uint64_t> hashes, GranuleSet* candidates, Kernel kernel) const;

  /// Bytes that one value's probe reads if all granules are candidates.
  uint64_t probe_bytes() const noexcept;

 private:
  ClassTree tree_;
  std::vector<BitSlices> classes_;
};

}  // namespace blocksieve::internal
