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
#include "blocksieve/hash.h"
#include "blocksieve/sizing.h"
#include "blocksieve/status.h"

/// \file
/// Filters of keys and of ranges of keys. For keys in memory:
///
///     auto filter = blocksieve::Filter::Build(keys, {.target_fpr = 0.01});
///     if (filter.ok() && !filter->MayContain("key")) { /* it is not in the set */ }
///
/// FilterBuilder takes the keys of a file while the file is written. Both make a filter block,
/// whose bytes are stored with the keys: payload, footer and five zero bytes. lib/FORMAT.md
/// specifies it.

namespace blocksieve {

namespace internal {
struct FilterAccess;
struct FilterView;
struct ProbeOps;
}  // namespace internal

/// What a FilterBuilder builds.
struct FilterOptions {
  /// One of BuildableFilterKinds().
  FilterKind kind = FilterKind::kBlockedBloom;

  /// Share of absent keys that may be reported as "may match". kMinTargetFpr to kMaxTargetFpr.
  double target_fpr = 0.01;

  /// The filter answers for ranges, too. Keys must then be added in bytewise order.
  bool ranges = false;

  /// Share of ranges without keys that may be reported as "may match", of short ranges that begin
  /// where keys are to be expected. 1e-5 to 0.3. Only with `ranges`.
  double range_fpr = 0.011;

  /// Seed of the hash, stored in the block.
  uint64_t hash_seed = 0;

  /// Maximum memory for building, in bytes: hashes of the keys, working memory and finished block
  /// together. A range filter has the same limit for itself. 0: no limit.
  uint64_t max_build_bytes = 0;

  /// Keep the hashes after Finish, so that VerifyBuilt can look up every key again.
  bool keep_hashes = false;
};

/// Collects the keys of one file, partition or granule and makes one filter block of them. May be
/// used again after Finish. Not thread-safe, but may move between threads.
///
/// Call order: ( AddKey* Finish )*
class BLOCKSIEVE_EXPORT FilterBuilder {
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

  /// The same for HashKey(key, options.hash_seed). REQUIRES: !options().ranges
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

  /// Why the last block is not what the options ask for: a blocked Bloom filter of the same FPR,
  /// because another kind would have exceeded max_build_bytes or a ribbon has no solution; or no
  /// range filter, because keys are too much alike or not in order. Empty if it is. For logs.
  const std::string& fallback_reason() const noexcept;

  /// Whether `block`, as the last Finish made it, is readable, undamaged, not "always may match",
  /// and matches every key. REQUIRES: options().keep_hashes, and no key added since Finish.
  /// Errors: Corruption.
  Status VerifyBuilt(ByteView block) const;

  /// Size in bytes of the block that Finish would make of `num_keys` keys, without a range filter;
  /// for a ribbon, give or take a few bytes and 0.1 %. From 2^63 bytes on, UINT64_MAX.
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

  /// As given to Create.
  const FilterOptions& options() const noexcept { return options_; }

  /// What ChooseLayout gave for these options.
  const Layout& layout() const noexcept { return layout_; }

 private:
  struct Keys;

  FilterBuilder(const FilterOptions& options, const Layout& layout);
  Result<OwnedBytes> FinishPoints(const Layout& layout);

  FilterOptions options_;
  Layout layout_;
  std::unique_ptr<Keys> keys_;
};

/// A filter that can be probed. Opening reads the footer only and takes constant time, so a filter
/// may be opened for a single probe. Immutable, cheap to copy, thread-safe.
///
/// "May match" can be wrong, at the filter's false-positive rate; "no" cannot. Whatever cannot be
/// read - short, truncated, foreign, newer, damaged - answers "may match".
class BLOCKSIEVE_EXPORT Filter {
 public:
  /// What became of a block that was opened.
  enum class State : uint8_t {
    kReady,       ///< Probes consult the filter.
    kEmpty,       ///< The filter of no keys: every probe is "no".
    kUnreadable,  ///< Every probe is "may match"; Verify says why.
  };

  /// Everything may match.
  Filter() noexcept;

  /// The filter of a range of strings, in any order unless options.ranges is set. It owns its
  /// bytes. Keys given more than once make a blocked Bloom filter larger, a ribbon hardly.
  /// Errors: those of FilterBuilder::Create and Finish.
  template <std::ranges::input_range Keys>
  requires std::convertible_to<std::ranges::range_reference_t<Keys>, std::string_view>
  static Result<Filter> Build(Keys&& keys, const FilterOptions& options = {}) {
    Result<FilterBuilder> builder = FilterBuilder::Create(options);
    if (!builder.ok()) return builder.status();
    for (auto&& key : keys) builder->AddKey(key);
    Result<OwnedBytes> block = builder->Finish();
    if (!block.ok()) return block.status();
    return Own(*std::move(block));
  }

  /// Refers to `block`, which must outlive the filter and its copies and may have any alignment.
  /// Never fails: see state().
  static Filter Open(ByteView block) noexcept;

  /// Compares the payload of a block with its checksum, in time linear in its size. Errors:
  /// Corruption (too short, foreign, damaged), NotSupported (a newer version or kind).
  static Status Verify(ByteView block);

  /// Whether the key may be among those that the filter was built from. Any bytes are a key.
  bool MayContain(std::string_view key) const noexcept { return may_match_key_(view(), key); }

  /// The same for HashKey(key, hash_seed()).
  bool MayContainHash(uint64_t hash) const noexcept { return may_match_hash_(view(), hash); }

  /// Probes all keys, fetching memory for several at a time; writes every may_match[i].
  /// REQUIRES: `may_match` has room for keys.size() answers.
  void MayContain(std::span<const std::string_view> keys, bool* may_match) const noexcept;

  /// The same for hashes of keys.
  void MayContainHashes(std::span<const uint64_t> hashes, bool* may_match) const noexcept {
    may_match_hashes_(view(), hashes.data(), hashes.size(), may_match);
  }

  /// Whether some key may be in [begin, end), by bytewise order. True without a range filter, and
  /// if begin >= end.
  bool MayContainRange(std::string_view begin, std::string_view end) const noexcept;

  /// The filter block.
  ByteView bytes() const noexcept { return bytes_; }

  /// Whether probes consult a filter, or why not.
  State state() const noexcept { return state_; }

  /// The seed of HashKey that the filter was built with; meaningless unless State::kReady.
  uint64_t hash_seed() const noexcept;

 private:
  friend struct internal::FilterAccess;
  using View = internal::FilterView;

  static Result<Filter> Own(OwnedBytes block);
  void SetOps(const internal::ProbeOps& ops) noexcept;
  const View& view() const noexcept { return *reinterpret_cast<const View*>(view_.data()); }

  // The entry points of the kind's kernel themselves, not a pointer to them: a probe is one jump.
  bool (*may_match_key_)(const View&, std::string_view) noexcept;
  bool (*may_match_hash_)(const View&, uint64_t) noexcept;
  void (*may_match_hashes_)(const View&, const uint64_t*, size_t, bool*) noexcept;
  // Holds a View, whose fields concern the kernels alone, and room for it to grow.
  alignas(uint64_t) std::array<std::byte, 192> view_{};
  State state_ = State::kUnreadable;
  ByteView bytes_;
  std::shared_ptr<const char[]> memory_;  // of a filter that was built
  const internal::ProbeOps* ops_;         // all entry points
};

}  // namespace blocksieve
