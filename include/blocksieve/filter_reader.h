#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/kernels.h"
#include "blocksieve/key_list.h"

namespace blocksieve {

namespace internal {
struct FilterView;  // where the payload is and how it is laid out
struct ProbeOps;
}  // namespace internal

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
  FilterReader() noexcept;

  /// Never fails; see `state()`. `block` may have any alignment.
  static FilterReader Open(ByteView block) noexcept;

  /// The same with another kernel than ActiveKernel(), to compare them. REQUIRES: this processor
  /// has its instructions (internal::IsAvailable).
  static FilterReader Open(ByteView block, Kernel kernel) noexcept;

  /// Whether the key may be among those that the filter was built from. Any bytes are a key.
  bool MayMatch(std::string_view key) const noexcept { return may_match_key_(view(), key); }

  /// The same for HashKey(key, hash_seed()).
  bool MayMatchHash(uint64_t hash) const noexcept { return may_match_hash_(view(), hash); }

  /// Probes all keys, fetching memory for several at a time; writes every may_match[i].
  /// REQUIRES: `may_match` has room for keys.size() answers.
  void MayMatch(std::span<const std::string_view> keys, bool* may_match) const noexcept;

  /// The same for hashes of keys.
  void MayMatchHashes(std::span<const uint64_t> hashes, bool* may_match) const noexcept {
    may_match_hashes_(view(), hashes.data(), hashes.size(), may_match);
  }

  /// The same for keys as engines hold them. Returns false if none of them is empty: an engine may
  /// give the empty key a meaning of its own, and need not look for it.
  bool MayMatch(KeyList keys, size_t num_keys, bool* may_match) const noexcept {
    return may_match_keys_(view(), keys, num_keys, may_match);
  }

  /// Whether probes consult a filter, or why not.
  State state() const noexcept { return state_; }

  /// The seed of HashKey that the filter was built with; meaningless unless State::kReady.
  uint64_t hash_seed() const noexcept;

 private:
  using View = internal::FilterView;

  void SetOps(const internal::ProbeOps& ops) noexcept;
  const View& view() const noexcept { return *reinterpret_cast<const View*>(view_.data()); }

  // The entry points of the kind's kernel themselves, not a pointer to them: a probe is one jump.
  bool (*may_match_key_)(const View&, std::string_view) noexcept;
  bool (*may_match_hash_)(const View&, uint64_t) noexcept;
  void (*may_match_hashes_)(const View&, const uint64_t*, size_t, bool*) noexcept;
  bool (*may_match_keys_)(const View&, KeyList, size_t, bool*) noexcept;
  // Holds a View, whose fields concern the kernels alone.
  alignas(uint64_t) std::array<std::byte, 144> view_{};
  State state_ = State::kUnreadable;
};

}  // namespace blocksieve
