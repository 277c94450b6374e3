#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lib/postings/dictionary.h"
#include "lib/predicate/column_index.h"
#include "lib/ribbon/retrieval.h"

// The other form of a column's filters: the granules of each value. It is exact for every value
// that occurs; one that does not gets some granules at a chosen rate, or none.
//
// Most columns have many values that are in one granule only. A dictionary spends more on such a
// value than on its granule, so these may have their granules in a ribbon, and a second ribbon, of
// a bit per value, tells which they are. Where nearly all are, the one ribbon holds all values, and
// says of the others that they are in the dictionary. Where nearly every row has a value of its
// own, the numbers in the ribbon are those of groups of granules: a value then gets as many
// granules in vain as bit slices of the same rate give it, but contiguous ones.
// lib/FORMAT.md specifies it.

namespace blocksieve::internal {

/// What is where.
struct PostingsShape {
  /// 0: all values are in the dictionary. 1: all are in a ribbon that gives a group, or says that
  /// the value is in the dictionary. 2: one ribbon tells which of the two others has the value.
  uint32_t num_ribbons = 0;
  uint64_t group_granules = 1;  // of a group
  uint32_t check_bits = 0;  // low bits of a ribbon's numbers; hashes without the value fail them
};

/// Appends the postings of a column, unless they would take `max_bytes` or more: then nothing, and
/// it returns false, also if values cannot be kept apart. For a value that does not occur, the
/// expected share of the granules that are given is at most `target_fpr`; also for one that does if
/// values are in fewer than 1.3 granules on average, otherwise it is 0. Memory: 32 bytes per hash.
bool AppendPostings(const GranuleHashes& values, double target_fpr, uint64_t max_bytes,
                    std::string* out);

/// A view; the bytes belong to somebody else.
class Postings {
 public:
  /// Opens all of `bytes`. False if they do not begin as postings do.
  bool Open(ByteView bytes, uint64_t num_granules);

  /// Removes the candidates that contain none of the values. Postings that contradict themselves
  /// remove nothing.
  void PruneByAny(std::span<const uint64_t> hashes, GranuleSet* candidates) const;

  /// Granules that a value in one of them may be given; 1: just this one.
  uint64_t group_granules() const noexcept { return shape_.group_granules; }

  /// Bytes that one value's probe reads, on average.
  uint64_t probe_bytes() const noexcept;

 private:
  /// Sets the bits of the granules of a value, of those below `end`. False if the postings
  /// contradict themselves.
  bool AddContaining(uint64_t hash, uint64_t end, uint64_t* words) const noexcept;

  uint64_t num_granules_ = 0;
  PostingsShape shape_;
  Retrieval is_single_;  // 1: group_of_ has the value
  Retrieval group_of_;
  Dictionary dictionary_;
};

}  // namespace blocksieve::internal
