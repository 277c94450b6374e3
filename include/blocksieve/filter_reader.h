#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/internal/filter_view.h"
#include "blocksieve/kernels.h"

namespace blocksieve {

/// Probes one filter block of any kind. Opening reads the footer only and takes constant time, so a
/// reader may be made for a single probe. A reader is a few words that refer to the block's bytes,
/// which must outlive it. It may be copied freely and used by any number of threads at once.
///
/// "May match" can be wrong (at the filter's false-positive rate); "no" cannot. Whatever cannot be
/// read - short, truncated, foreign, newer, damaged - answers "may match".
class FilterReader {
 public:
  /// What became of a block that was opened.
  enum class State : uint8_t {
    kReady,       ///< Probes consult the filter.
    kEmpty,       ///< The filter of no keys: every probe is "no".
    kUnreadable,  ///< Every probe is "may match"; DescribeFilterBlock says why.
  };

  /// Everything may match.
  FilterReader() noexcept : ops_(internal::kEverythingMatches), view_{} {}

  /// Never fails; see `state()`. `block` may have any alignment.
  static FilterReader Open(ByteView block) noexcept;

  /// The same with another kernel than ActiveKernel(), to compare them. REQUIRES: this processor
  /// has its instructions (internal::IsAvailable).
  static FilterReader Open(ByteView block, Kernel kernel) noexcept;

  /// Whether the key may be among those that the filter was built from. Any bytes are a key.
  bool MayMatch(std::string_view key) const noexcept { return ops_.may_match_key(view_, key); }

  /// The same for HashKey(key, hash_seed()).
  bool MayMatchHash(uint64_t hash) const noexcept { return ops_.may_match_hash(view_, hash); }

  /// Probes all keys, fetching memory for several at a time; writes every may_match[i].
  /// REQUIRES: `may_match` has room for keys.size() answers.
  void MayMatch(std::span<const std::string_view> keys, bool* may_match) const noexcept;

  /// The same for hashes of keys.
  void MayMatchHashes(std::span<const uint64_t> hashes, bool* may_match) const noexcept {
    ops_.may_match_hashes(view_, hashes.data(), hashes.size(), may_match);
  }

  /// The same for keys as engines hold them. Returns false if none of them is empty: an engine may
  /// give the empty key a meaning of its own, and need not look for it.
  bool MayMatch(internal::KeyList keys, size_t num_keys, bool* may_match) const noexcept {
    return ops_.may_match_keys(view_, keys, num_keys, may_match);
  }

  /// Whether probes consult a filter, or why not.
  State state() const noexcept { return state_; }

  /// The seed of HashKey that the filter was built with; meaningless unless State::kReady.
  uint64_t hash_seed() const noexcept { return view_.hash_seed; }

 private:
  internal::ProbeOps ops_;  // not a pointer to them: a probe is one jump
  internal::FilterView view_;
  State state_ = State::kUnreadable;
};

}  // namespace blocksieve
