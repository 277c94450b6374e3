#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/filter.h"
#include "blocksieve/status.h"
#include "lib/base/kernels.h"
#include "lib/range/sorted_keys.h"
#include "lib/range/tree.h"

/// \file
/// Range filters: whether some key may lie in [begin, end). A range filter is a section of a filter
/// block, and leaves size and speed of the key filter unchanged. lib/FORMAT.md specifies the bytes.

namespace blocksieve {
namespace internal {

// A range that starts right after a key falls into the cell of that key, however narrow cells are.
// But if keys are numbers of one length, only a few keys are possible in a narrow range, and each
// of them can be looked up in the point filter.

/// The common form of a filter's keys, if all have one length. Possible keys with the same head are
/// numbers whose digits are their last bytes.
struct KeyForm {
  /// Number of bytes at the end of a key whose values are known.
  static constexpr size_t kTailBytes = 4;

  /// Calls `visit(key)` for each possible key in [begin, end), in order, until it returns false.
  /// Returns whether that were all, and is false without a call if there are more than `max`, or
  /// the keys in the range do not share the bytes before the tail. Throws std::bad_alloc.
  template <class Visit>
  bool ForEachKey(std::string_view begin, std::string_view end, uint64_t max,
                  const Visit& visit) const {
    if (key_bytes < kTailBytes) return false;
    const size_t head = key_bytes - kTailBytes;
    if (begin.size() < head || end.size() < head || begin.substr(0, head) != end.substr(0, head)) {
      return false;
    }
    uint64_t number = TailsBelow(begin.substr(head));
    const uint64_t last = TailsBelow(end.substr(head));
    if (number + max < last) return false;
    std::string key(begin.substr(0, head));
    key.resize(key_bytes);
    for (; number < last; ++number) {
      SetTail(number, key.data() + head);
      if (!visit(std::string_view(key))) return false;
    }
    return true;
  }

  uint16_t key_bytes = 0;  ///< Length of each key; 0 if lengths differ or are out of range.
  std::array<uint8_t, kTailBytes> lowest = {};
  std::array<uint8_t, kTailBytes> highest = {};

 private:
  /// The number of possible tails below `tail`, which may be shorter or longer than they.
  uint64_t TailsBelow(std::string_view tail) const noexcept;
  void SetTail(uint64_t number, char* tail) const noexcept;

  /// The base of digit i.
  uint32_t NumValues(size_t i) const noexcept { return highest[i] - uint32_t{lowest[i]} + 1; }
};

}  // namespace internal

struct RangeFilterInfo {
  uint64_t num_keys = 0;       ///< Number of distinct keys.
  uint64_t bytes = 0;          ///< Size of the section.
  uint64_t cells_per_key = 0;  ///< Cells per key, on average.
  uint64_t model_bytes = 0;    ///< Part of `bytes`: the model learnt from the keys' bytes.
  bool is_whole_file = false;  ///< Whether the filter has all keys of its file.

  /// Estimated share of empty ranges that may match, for short ranges that start where keys are
  /// likely: the share of the filter's keys that share their cell with another.
  double estimated_fpr = 0;
};

/// Collects the keys of one file or partition for the range filter in its filter block.
/// Call order: ( AddKey* Finish )*. Not thread-safe, but may move between threads.
class RangeFilterBuilder {
 public:
  /// Errors: InvalidArgument, naming the option, its value and the allowed range.
  static Result<RangeFilterBuilder> Create(const FilterOptions& options);

  /// Adds a key. Keys must come in bytewise order; a key that equals the last one is ignored. If
  /// keys are out of order, or memory runs out, Finish makes no range filter.
  void AddKey(std::string_view key) noexcept try {
    if (!is_sorted_ || is_too_large_) return;
    // Finish needs as much again: a code takes as much memory as the place of a key, and the filter
    // takes less than the keys.
    is_too_large_ = options_.max_build_bytes != 0 &&
                    2 * (keys_.num_bytes() + key.size()) > options_.max_build_bytes;
    is_sorted_ = is_too_large_ || keys_.Append(key);
    if (!is_sorted_ || is_too_large_) keys_.Clear();
  } catch (const std::bad_alloc&) {
    is_too_large_ = true;
    keys_.Clear();
  }

  /// The section; empty if there is no range filter, see absent_reason(). Resets the builder.
  std::string Finish() noexcept;

  /// Drops the keys added so far.
  void Reset() noexcept;

  /// Memory used by the keys so far, in bytes. Finish needs twice that.
  uint64_t memory_bytes() const noexcept { return keys_.num_bytes(); }

  /// Why the last Finish made no range filter, for integrations to log: no keys, keys too similar
  /// or out of bytewise order, or memory. Empty if it made one.
  const std::string& absent_reason() const noexcept { return absent_reason_; }

 private:
  explicit RangeFilterBuilder(const FilterOptions& options) : options_(options) {}

  std::string WhyNone() const;

  FilterOptions options_;
  internal::SortedKeys keys_;
  bool is_sorted_ = true;
  bool is_too_large_ = false;
  std::string absent_reason_;
};

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

  /// REQUIRES: is_ready()
  const RangeFilterInfo& info() const noexcept { return info_; }

  /// Whether some key may be in [begin, end), in bytewise order. kMayMatch if begin >= end. With
  /// the block's `points`, looks possible keys up in them, if all keys have one length and at most
  /// kMaxCandidates are possible in the range: for instance right after one of many consecutive
  /// keys, where the range filter alone says "may match".
  Answer Query(std::string_view begin, std::string_view end,
               const PointFilter* points = nullptr) const noexcept;

  /// Maximum number of keys that one query looks up in the point filter.
  static constexpr int kMaxCandidates = 16;

 private:
  bool Read(ByteView section) noexcept;
  bool CandidateMayMatch(std::string_view begin, std::string_view end,
                         const PointFilter& points) const noexcept;

  // The section: a head, the model and the tree.
  RangeFilterInfo info_ = {};
  internal::KeyForm form_ = {};
  internal::CellTree tree_ = {};
  Kernel kernel_ = Kernel::kScalar;
  bool is_ready_ = false;
};

}  // namespace blocksieve
