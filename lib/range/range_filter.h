#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/filter.h"
#include "blocksieve/status.h"
#include "lib/base/kernels.h"
#include "lib/range/candidate_keys.h"
#include "lib/range/tree.h"

/// \file
/// Range filters: whether some key may lie in [begin, end). A range filter is a section of a filter
/// block, and leaves size and speed of the key filter unchanged. lib/FORMAT.md specifies the bytes.

namespace blocksieve {

namespace internal {
class SortedKeys;
}  // namespace internal

struct RangePartOptions {
  /// Maximum share of empty ranges reported as "may match", for short ranges that start where keys
  /// are likely. kMinRangeFpr to kMaxRangeFpr. Exceeded if keys are too similar: see
  /// RangeFilterInfo::estimated_fpr.
  double range_fpr = 0.011;

  /// Whether the filter has all keys of its file. The filter of a partition has not, so it never
  /// answers "no" to a range that extends past its last key.
  bool is_whole_file = true;

  /// Build no range filter if RangeFilterInfo::estimated_fpr would exceed this.
  double max_estimated_fpr = 0.2;

  /// Maximum memory for building, in bytes, including the keys. 0: no limit.
  uint64_t max_build_bytes = 0;
};

struct RangeFilterInfo {
  uint64_t num_keys = 0;       ///< Number of distinct keys.
  uint64_t bytes = 0;          ///< Size of the section.
  uint64_t cells_per_key = 0;  ///< Cells per key, on average.
  uint64_t model_bytes = 0;    ///< Part of `bytes`: the model learnt from the keys' bytes.
  bool is_whole_file = false;  ///< See RangePartOptions.

  /// Estimated share of empty ranges that may match, for short ranges that start where keys are
  /// likely: the share of the filter's keys that share their cell with another.
  double estimated_fpr = 0;
};

/// Describes a section. Errors: Corruption.
Result<RangeFilterInfo> DescribeRanges(ByteView section);

/// Collects the keys of one file or partition for the range filter in its filter block.
/// Call order: ( AddKey* Finish )*. Not thread-safe, but may move between threads.
class RangeFilterBuilder {
 public:
  /// Errors: InvalidArgument, naming the option, its value and the allowed range.
  static Result<RangeFilterBuilder> Create(const RangePartOptions& options);

  /// @{
  /// A moved-from builder may only be assigned to or destroyed.
  RangeFilterBuilder(RangeFilterBuilder&&) noexcept;
  RangeFilterBuilder& operator=(RangeFilterBuilder&&) noexcept;
  /// @}
  ~RangeFilterBuilder();

  /// Adds a key. Keys must come in bytewise order; a key that equals the last one is ignored. If
  /// keys are out of order, or memory runs out, Finish makes no range filter.
  void AddKey(std::string_view key) noexcept;

  /// The section; empty if there is no range filter, see absent_reason(). Resets the builder.
  std::string Finish() noexcept;

  /// Drops the keys added so far.
  void Reset() noexcept;

  /// Memory used by the keys so far, in bytes. Finish needs twice that.
  uint64_t memory_bytes() const noexcept;

  /// Why the last Finish made no range filter, for integrations to log: no keys, keys too similar
  /// or out of bytewise order, or memory. Empty if it made one.
  const std::string& absent_reason() const noexcept { return absent_reason_; }

  const RangePartOptions& options() const noexcept { return options_; }

 private:
  explicit RangeFilterBuilder(const RangePartOptions& options);

  std::string WhyNone() const;

  RangePartOptions options_;
  std::unique_ptr<internal::SortedKeys> keys_;
  bool is_sorted_ = true;
  bool is_too_large_ = false;
  std::string absent_reason_;
};

namespace internal {
/// A section: a head, the model and the tree.
struct RangePart {
  RangeFilterInfo info;
  KeyForm form;
  Tree tree;
};
}  // namespace internal

/// Reads the range filter of a block, which must outlive the reader. Opening takes constant time.
/// Immutable, cheap to copy, thread-safe.
class RangeFilterReader {
 public:
  using Answer = RangeAnswer;

  /// A reader without a filter: everything may match.
  RangeFilterReader() = default;

  /// Opens a block of any alignment. Never fails: if the block has no range filter, or is not
  /// readable, everything may match. `kernel` is for tests and benchmarks.
  static RangeFilterReader Open(ByteView block, Kernel kernel = ActiveKernel()) noexcept;

  /// The same for a section in a block.
  static RangeFilterReader OpenSection(ByteView section, Kernel kernel = ActiveKernel()) noexcept;

  /// Whether the block has a readable range filter.
  bool is_ready() const noexcept { return is_ready_; }

  /// Whether some key may be in [begin, end), in bytewise order. kMayMatch if begin >= end.
  Answer Query(std::string_view begin, std::string_view end) const noexcept;

  /// The same, with the help of the block's point filter: `may_match(key)` looks a key up in it.
  /// Used if all keys have one length and at most kMaxCandidates keys fit in the range, for
  /// instance right after one of many consecutive keys, where the range filter alone says "may
  /// match".
  template <class MayMatchKey>
  Answer Query(std::string_view begin, std::string_view end, const MayMatchKey& may_match) const {
    return Query(begin, end, &may_match, [](const void* point_filter, std::string_view key) {
      return (*static_cast<const MayMatchKey*>(point_filter))(key);
    });
  }
  /// Maximum number of keys that one query looks up in the point filter.
  static constexpr int kMaxCandidates = 16;

  /// Whether the caller must read the range: Query(begin, end) != Answer::kNo.
  bool MayContain(std::string_view begin, std::string_view end) const noexcept {
    return Query(begin, end) != Answer::kNo;
  }

 private:
  using MayMatchPoint = bool (*)(const void* point_filter, std::string_view key);
  Answer Query(std::string_view begin, std::string_view end, const void* point_filter,
               MayMatchPoint may_match) const;

  internal::RangePart part_ = {};
  Kernel kernel_ = Kernel::kScalar;
  bool is_ready_ = false;
};

}  // namespace blocksieve
