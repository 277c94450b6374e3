#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/filter_info.h"
#include "blocksieve/hash.h"
#include "blocksieve/kernels.h"
#include "blocksieve/sizing.h"
#include "blocksieve/status.h"

/// \file
/// Makes, probes and checks filters. A finished filter is payload, footer and five zero bytes;
/// lib/FORMAT.md is the normative description.

namespace blocksieve {

/// What a FilterBuilder is to build.
struct FilterOptions {
  /// One of BuildableFilterKinds().
  FilterKind kind = FilterKind::kBlockedBloom;

  /// Share of absent keys that may be reported as "may match". Range of ChooseLayout.
  double target_fpr = 0.01;

  /// Seed of the hash, stored in the block.
  uint64_t hash_seed = 0;

  /// Most memory that building may take, in bytes: hashes of the keys, working memory and finished
  /// block together. 0: no limit.
  uint64_t max_build_bytes = 0;

  /// Keep the hashes after Finish, so that VerifyBuilt can ask for every key again.
  bool keep_hashes = false;
};

/// Collects the keys of one file, partition or granule and makes one filter block of them. May be
/// used again after Finish. Not thread-safe, but may move between threads.
///
/// Call order: ( AddKey* Finish )*
class FilterBuilder {
 public:
  /// Errors: InvalidArgument, naming the option, its value and the allowed range.
  static Result<FilterBuilder> Create(const FilterOptions& options);

  /// @{
  /// A builder that was moved from may only be assigned to or destroyed.
  FilterBuilder(FilterBuilder&&) noexcept;
  FilterBuilder& operator=(FilterBuilder&&) noexcept;
  ~FilterBuilder();
  /// @}

  /// Adds a key. Any bytes are a key, none included. A key equal to one of the last two added is
  /// counted once: keys come in order, and a prefix of a key may come after each key.
  void AddKey(std::string_view key) noexcept;

  /// The same for HashKey(key, options.hash_seed).
  void AddHash(uint64_t hash) noexcept;

  /// Keys added since the last Finish, adjacent duplicates counted once. O(1), and the one function
  /// that other threads may call meanwhile.
  uint64_t num_keys() const noexcept;

  /// The finished block; never empty, even for no keys. The builder starts anew, also after an
  /// error. Errors: ResourceExhausted if the block would reach 4 GiB, the budget is exceeded or
  /// memory is short.
  Result<OwnedBytes> Finish() { return Finish(layout_); }

  /// The same with another layout, for this block only.
  Result<OwnedBytes> Finish(const Layout& layout);

  /// Why the block last finished is a blocked Bloom filter of the same FPR although another kind
  /// was asked for: that would have exceeded max_build_bytes, or a ribbon has no solution. Empty if
  /// it is what was asked for. For integrations to log.
  const std::string& fallback_reason() const noexcept;

  /// Whether `block`, as the last Finish made it, is readable, undamaged, not "always may match",
  /// and matches every key. REQUIRES: options().keep_hashes, and no key added since Finish.
  /// Errors: Corruption.
  Status VerifyBuilt(ByteView block) const;

  /// The bytes of the block that Finish would make of `num_keys` keys; of a ribbon, give or take a
  /// few bytes and 0.1 %, as its keys decide. From 2^63 bytes on, the largest uint64_t.
  uint64_t BlockBytes(uint64_t num_keys) const noexcept { return BlockBytes(layout_, num_keys); }

  /// The same with another layout of the same kind.
  uint64_t BlockBytes(const Layout& layout, uint64_t num_keys) const noexcept;

  /// Memory that Finish(layout) takes at its peak, the block included, in bytes.
  uint64_t BuildBytes(const Layout& layout) const noexcept;

  /// The inverse of BlockBytes: the most keys whose block fits in `block_bytes`; 0 if none do.
  uint64_t MaxKeys(uint64_t block_bytes) const noexcept;

  /// The layout of the lowest FPR whose block for `num_keys` keys fits in `block_bytes`; the
  /// smallest layout there is if none fits.
  Layout LayoutForBlockBytes(uint64_t num_keys, uint64_t block_bytes) const;

  /// The FPR of a block of `block_bytes` for `num_keys` keys; 0 for no keys.
  double EstimateFpr(uint64_t num_keys, uint64_t block_bytes) const;

  /// As given to Create.
  const FilterOptions& options() const noexcept { return options_; }

  /// What ChooseLayout gave for these options.
  const Layout& layout() const noexcept { return layout_; }

 private:
  struct Keys;

  FilterBuilder(const FilterOptions& options, const Layout& layout);

  FilterOptions options_;
  Layout layout_;
  std::unique_ptr<Keys> keys_;
};

/// A filter block of all keys of a range of strings, for FilterReader::Open. A ribbon unless
/// another kind is asked for: a set that is built once and asked often is best served by the
/// smallest; blocked Bloom takes half as much space again and is built in less than half the time.
/// Keys may be in any order. Keys given more than once make a blocked Bloom filter larger, a ribbon
/// hardly.
/// Errors: as FilterBuilder's Create and Finish.
template <std::ranges::input_range Keys>
requires std::convertible_to<std::ranges::range_reference_t<Keys>, std::string_view>
    Result<OwnedBytes> MakeFilter(Keys&& keys, double target_fpr,
                                  FilterKind kind = FilterKind::kRibbon) {
  Result<FilterBuilder> builder = FilterBuilder::Create({.kind = kind, .target_fpr = target_fpr});
  if (!builder.ok()) return builder.status();
  for (const std::string_view key : keys) builder->AddKey(key);
  return builder->Finish();
}

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

  /// Never fails; see `state()`. `block` may have any alignment. Another kernel is to compare them.
  /// REQUIRES: this processor has its instructions (internal::IsAvailable).
  static FilterReader Open(ByteView block, Kernel kernel = ActiveKernel()) noexcept;

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
  // Holds a View, whose fields concern the kernels alone, and room for it to grow.
  alignas(uint64_t) std::array<std::byte, 192> view_{};
  State state_ = State::kUnreadable;
};

/// Reads and checks the footer in constant time, without looking at the payload.
/// Errors: Corruption (too short, foreign, damaged), NotSupported (a newer version or kind).
Result<FilterInfo> DescribeFilterBlock(ByteView block);

/// Checks the payload against its checksum, in time linear in its size. Errors as above.
Status VerifyFilterBlock(ByteView block);

/// The false-positive rate that the model predicts for a filter of this layout and number of keys.
double PredictedFpr(const FilterInfo& info) noexcept;

}  // namespace blocksieve
