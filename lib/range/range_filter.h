#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "lib/base/kernels.h"

/// \file
/// Filters of ranges: whether some key may lie in [begin, end). A range filter is a part of a
/// filter block, behind a filter for points that is as small and as fast as without. lib/FORMAT.md
/// is the normative description.

namespace blocksieve {

namespace internal {
class SortedKeys;
}  // namespace internal

/// What a RangeFilterBuilder is to build.
struct RangePartOptions {
  /// Share of ranges without keys that may be reported as "may match", of short ranges that begin
  /// where keys are to be expected. kMinRangeFpr to kMaxRangeFpr. Keys that are too much alike miss
  /// it: see RangeFilterInfo::estimated_fpr.
  double range_fpr = 0.011;

  /// Whether the filter has all keys of its file. The one of a partition does not, so it never says
  /// "no" to a range that goes on behind its last key.
  bool is_whole_file = true;

  /// No range filter is made if the estimate is above this.
  double max_estimated_fpr = 0.2;

  /// Most memory that building may take, in bytes, the keys included. 0: no limit.
  uint64_t max_build_bytes = 0;
};

/// @{
/// The least and the largest RangePartOptions::range_fpr.
inline constexpr double kMinRangeFpr = 1e-5;
inline constexpr double kMaxRangeFpr = 0.3;
/// @}

/// Bits per key of a range filter of many keys that are not alike, of this FPR. It takes some 100
/// bytes more. REQUIRES: kMinRangeFpr <= range_fpr <= kMaxRangeFpr
double RangeBitsPerKey(double range_fpr) noexcept;

/// What a range filter says of itself.
struct RangeFilterInfo {
  uint64_t num_keys = 0;       ///< Different ones.
  uint64_t bytes = 0;          ///< Of the range filter and what it adds to the footer.
  uint64_t cells_per_key = 0;  ///< An interval of so many holds one key, on average.
  uint64_t model_bytes = 0;    ///< Of these, what was learnt of the keys' bytes.
  bool is_whole_file = false;  ///< See RangePartOptions.

  /// Share of short ranges without keys that may match, if they begin where keys are to be
  /// expected: how many of the filter's keys share their cell with another.
  double estimated_fpr = 0;
};

/// What the range filter in a filter block says of itself; 0 keys if the block has none.
/// Errors: Corruption, NotSupported.
Result<RangeFilterInfo> DescribeRangeFilter(ByteView block);

/// Collects the keys of one file or partition for the range filter in its filter block. May be used
/// again after Finish. Not thread-safe, but may move between threads.
class RangeFilterBuilder {
 public:
  /// Errors: InvalidArgument, naming the option, its value and the allowed range.
  static Result<RangeFilterBuilder> Create(const RangePartOptions& options);

  /// @{
  /// Leaves the other one without keys, to be destroyed or assigned to.
  RangeFilterBuilder(RangeFilterBuilder&&) noexcept;
  RangeFilterBuilder& operator=(RangeFilterBuilder&&) noexcept;
  /// @}
  ~RangeFilterBuilder();

  /// Adds a key. They come in bytewise order, and one that equals the last one is ignored. After
  /// one in another order there will be no range filter. Memory that is short has the same effect.
  void AddKey(std::string_view key) noexcept;

  /// The block of a filter for points, with the range filter of the keys behind it; the same block
  /// if there is none, see absent_reason(). The builder starts anew, also after an error. Null:
  /// only starts anew. Errors: ResourceExhausted if memory is short; `filter_block` is then as it
  /// was.
  Status Finish(OwnedBytes* filter_block);

  /// Memory that the keys take so far, in bytes. Finish takes twice that.
  uint64_t memory_bytes() const noexcept;

  /// Why the last Finish made no range filter: no keys, keys that are too much alike or in another
  /// order than bytewise, or memory. Empty if it made one. For integrations to log.
  const std::string& absent_reason() const noexcept { return absent_reason_; }

  /// As given to Create.
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

/// Asks the range filter of a block. Opening takes constant time. A reader is a few words that
/// refer to the block's bytes, which must outlive it. It may be copied freely and used by any
/// number of threads at once.
class RangeFilterReader {
 public:
  /// What was asked came to.
  enum class Answer : uint8_t {
    kMayMatch,  ///< There may be a key in the range.
    kNo,        ///< There is none.
    kBeyond,    ///< There is none here, but the range goes on behind the last key of the partition.
  };

  /// Everything may match.
  RangeFilterReader() = default;

  /// Never fails. `block` may have any alignment, and be any bytes: a block that has no range
  /// filter, or one that cannot be read, may match everything. Another kernel is to compare them.
  static RangeFilterReader Open(ByteView block, Kernel kernel = ActiveKernel()) noexcept;

  /// Whether there is a filter to ask.
  bool is_ready() const noexcept { return !ranges_.empty(); }

  /// Whether some key may be in [begin, end), by bytewise order. If begin >= end, kMayMatch.
  Answer Ask(std::string_view begin, std::string_view end) const noexcept;

  /// The same, with the help of the block's filter for points: `may_match` says whether it may have
  /// a key. It is asked where keys are of one length and the range has room for kMaxFewKeys of
  /// them at most, as behind a key of consecutive ones, where the ranges alone say "may match".
  template <class MayMatchKey>
  Answer Ask(std::string_view begin, std::string_view end, const MayMatchKey& may_match) const {
    return Ask(begin, end, &may_match, [](const void* points, std::string_view key) {
      return (*static_cast<const MayMatchKey*>(points))(key);
    });
  }
  /// The most keys that the filter for points is asked for.
  static constexpr int kMaxFewKeys = 16;

  /// Whether the caller must look: Ask(begin, end) != Answer::kNo.
  bool MayContain(std::string_view begin, std::string_view end) const noexcept {
    return Ask(begin, end) != Answer::kNo;
  }

 private:
  using AskPoint = bool (*)(const void* points, std::string_view key);
  Answer Ask(std::string_view begin, std::string_view end, const void* points,
             AskPoint may_match) const;

  ByteView ranges_;
  Kernel kernel_ = Kernel::kScalar;
};

}  // namespace blocksieve
