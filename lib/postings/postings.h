#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lib/postings/dictionary.h"
#include "lib/predicate/column_index.h"
#include "lib/ribbon/retrieval.h"

// The alternative to bit slices: the granules of each value. Exact for values that occur; another
// value gets some granules with a chosen FPR, or none.
//
// Most columns have many values that are in one granule only. A dictionary entry takes more space
// than such a value's granule, so these may be in a ribbon (a static map), and a second ribbon of
// one bit per value tells which values are. If nearly all are, one ribbon has all values, and its
// number marks those in the dictionary. If nearly every row has a value of its own, the ribbon maps
// values to contiguous groups of granules, with as many false positives as bit slices of the same
// FPR. lib/FORMAT.md specifies it.

namespace blocksieve::internal {

/// Where values are stored.
struct PostingsShape {
  /// 0: all values are in the dictionary. 1: all are in a ribbon, whose number is a group or refers
  /// to the dictionary. 2: a ribbon of one bit tells whether a ribbon or the dictionary has a
  /// value.
  uint32_t num_ribbons = 0;
  uint64_t group_granules = 1;  // granules in a group
  uint32_t check_bits = 0;      // low bits of a ribbon's numbers: a fingerprint
};

/// Appends the postings of a column. Returns false, and appends nothing, if they would take
/// `max_bytes` or more, or if remainders cannot be made distinct. A value that does not occur gets
/// an expected share of at most `target_fpr` of the granules. So does a value that occurs, in false
/// positives, if values are in fewer than 1.3 granules on average; otherwise it gets none. Memory:
/// 32 bytes per hash.
bool AppendPostings(const GranuleHashes& values, double target_fpr, uint64_t max_bytes,
                    std::string* out);

/// A view; does not own the bytes.
class Postings {
 public:
  /// Opens all of `bytes`. False if their header is invalid.
  bool Open(ByteView bytes, uint64_t num_granules);

  /// Removes candidates that contain none of the values. Damaged postings remove nothing.
  void PruneByAny(std::span<const uint64_t> hashes, GranuleSet* candidates) const;

  /// Granules in a group; 1: no false positives for values that occur.
  uint64_t group_granules() const noexcept { return shape_.group_granules; }

  /// Average number of bytes that a probe of one value reads.
  uint64_t probe_bytes() const noexcept;

 private:
  /// Sets the bits of a value's granules below `end`. False if the postings are damaged.
  bool AddContaining(uint64_t hash, uint64_t end, uint64_t* words) const noexcept;

  uint64_t num_granules_ = 0;
  PostingsShape shape_;
  Retrieval is_single_;  // 1 if group_of_ has the value
  Retrieval group_of_;
  Dictionary dictionary_;
};

}  // namespace blocksieve::internal
