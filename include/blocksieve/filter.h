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
/// FilterBuilder takes keys while a file is written. Both make a filter block (payload, footer and
/// five zero bytes; lib/FORMAT.md specifies it), whose bytes the caller stores with the keys.

namespace blocksieve {

namespace internal {
struct FilterAccess;
struct FilterView;
struct ProbeOps;
}  // namespace internal

/// Options of a FilterBuilder.
struct FilterOptions {
  FilterKind kind = FilterKind::kBlockedBloom;  ///< Blocked Bloom or ribbon.
  /// Maximum share of absent keys reported as "may match", kMinTargetFpr to kMaxTargetFpr.
  double target_fpr = 0.01;
  /// Whether to add a range filter, for MayContainRange. Keys must then come in bytewise order.
  bool ranges = false;
  /// Maximum share of empty ranges reported as "may match", for short ranges that start where keys
  /// are likely. 1e-5 to 0.3. Only with `ranges`.
  double range_fpr = 0.011;

  /// Rule that finds prefixes of keys, such as "delimiter:/" (FilterPolicyOptions::prefixes has
  /// all); empty: none. The filter then rules out ranges below absent prefixes. Keys should be
  /// added in bytewise order.
  std::string prefixes = {};
  /// Maximum memory for building, in bytes: key hashes, working memory and finished block together.
  /// The range filter may take as much again. 0: no limit.
  uint64_t max_build_bytes = 0;
  bool keep_hashes = false;  ///< Whether to keep the hashes after Finish, for VerifyBuilt.
};

/// Collects the keys of one file, partition or granule and builds one filter block from them.
/// Call order: ( AddKey* Finish )*. Not thread-safe, but may move between threads. A moved-from
/// builder may only be assigned to or destroyed.
class BLOCKSIEVE_EXPORT FilterBuilder {
 public:
  /// Errors: InvalidArgument, naming the option, its value and the allowed range.
  static Result<FilterBuilder> Create(const FilterOptions& options);

  FilterBuilder(FilterBuilder&&) noexcept;             ///< See above.
  FilterBuilder& operator=(FilterBuilder&&) noexcept;  ///< See above.
  ~FilterBuilder();

  /// Adds a key: any bytes, including none. A key equal to one of the last two is counted once:
  /// engines add keys in order, and may add a prefix of each key after it.
  void AddKey(std::string_view key) noexcept;

  /// Adds HashKey(key) instead of a key. REQUIRES: !options().ranges
  void AddHash(uint64_t hash) noexcept;

  /// Number of keys since the last Finish, adjacent duplicates counted once. O(1). The only
  /// function that other threads may call concurrently.
  uint64_t num_keys() const noexcept;

  /// @{
  /// The finished block, of layout() unless another is given for this block; never empty, even for
  /// no keys. Resets the builder, also on error. Errors: ResourceExhausted if the block would reach
  /// 4 GiB, max_build_bytes would be exceeded, or memory runs out.
  Result<OwnedBytes> Finish() { return Finish(layout_); }
  Result<OwnedBytes> Finish(const Layout& layout);
  /// @}

  /// Why the last block differs from the options, for logs; empty if it does not. It is a blocked
  /// Bloom filter of the same FPR if another kind would have exceeded max_build_bytes or a ribbon
  /// has no solution. It has no range filter if keys were too similar or out of order.
  const std::string& fallback_reason() const noexcept;

  /// Checks that `block`, made by the last Finish, is readable, undamaged, not "always may match",
  /// and matches every key. Errors: Corruption. REQUIRES: keep_hashes, no key added since Finish.
  Status VerifyBuilt(ByteView block) const;

  const FilterOptions& options() const noexcept { return options_; }  ///< As given to Create.
  const Layout& layout() const noexcept { return layout_; }           ///< ChooseLayout for them.

 private:
  friend struct internal::FilterAccess;
  struct Keys;
  FilterBuilder(const FilterOptions& options, const Layout& layout);
  Result<OwnedBytes> FinishBlock(const Layout& layout);

  FilterOptions options_;
  Layout layout_;
  std::unique_ptr<Keys> keys_;
};

/// Result of a range query: is there a key in [begin, end)?
enum class RangeAnswer : uint8_t {
  kMayMatch,  ///< There may be a key in the range.
  kNo,        ///< There is no key in the range.
  kBeyond,    ///< No key of this partition is in the range, but later partitions may have one.
};

/// What a filter block holds.
struct FilterDescription {
  FilterKind kind = FilterKind::kNone;  ///< Kind of the key filter.
  uint64_t num_keys = 0;        ///< Keys, adjacent duplicates counted once; without prefixes.
  uint64_t block_bytes = 0;     ///< Size of the block.
  double predicted_fpr = 1;     ///< FPR of the key filter, by the model; 0 without keys.
  uint64_t range_bytes = 0;     ///< Size of the range filter; 0: none.
  uint64_t num_range_keys = 0;  ///< Distinct keys in the range filter.
  /// Share of empty ranges that may match, for short ranges that start where keys are likely: the
  /// share of keys that the range filter cannot tell from others.
  double estimated_range_fpr = 1;
  std::string prefix_rule = {};    ///< Boundaries of prefixes, as in FilterOptions; empty: none.
  uint64_t num_prefixes = 0;       ///< Distinct prefixes.
  uint32_t prefix_lookups = 0;     ///< Hashes per prefix in the key filter.
  uint64_t num_prefix_hashes = 0;  ///< All of them.
  uint64_t prefix_bytes = 0;       ///< Size of the section, without those hashes.
};

/// Reads footer and sections of a block, but not its filters. Errors: Corruption (too short,
/// foreign, damaged), NotSupported (written by a later version).
BLOCKSIEVE_EXPORT Result<FilterDescription> DescribeFilter(ByteView block);

/// A filter to look keys up in. Opening reads the footer only, in constant time, so that a filter
/// may be opened for a single lookup. Immutable, cheap to copy, thread-safe.
///
/// "May match" can be wrong, at the filter's false-positive rate; "no" cannot. An unreadable block
/// (short, truncated, foreign, newer or damaged) always answers "may match".
class BLOCKSIEVE_EXPORT Filter {
 public:
  /// Whether lookups consult the filter, or why not.
  enum class State : uint8_t {
    kReady,       ///< Lookups consult the filter.
    kEmpty,       ///< The block of no keys: every lookup answers "no".
    kUnreadable,  ///< Every lookup answers "may match"; Verify says why.
  };

  Filter() noexcept;  ///< A kUnreadable filter: everything may match.

  /// Builds the filter of a range of strings, in any order unless options.ranges is set. It owns
  /// its bytes. Duplicate keys enlarge a blocked Bloom filter, but hardly a ribbon. Errors: those
  /// of FilterBuilder::Create and Finish.
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

  /// Opens a block of any alignment, which must outlive the filter and its copies. Never fails: see
  /// state().
  static Filter Open(ByteView block) noexcept;

  /// Compares all of a block with its checksums, in linear time. Errors: Corruption (too short,
  /// foreign, damaged), NotSupported (written by a later version).
  static Status Verify(ByteView block);

  /// @{
  /// Whether the filter may hold a key (any bytes), or a key with this HashKey(key).
  bool MayContain(std::string_view key) const noexcept { return may_match_key_(view(), key); }
  bool MayContainHash(uint64_t hash) const noexcept { return may_match_hash_(view(), hash); }
  /// @}

  /// @{
  /// The same for many keys or hashes; faster, because it prefetches. Writes may_match[i] for each.
  /// REQUIRES: `may_match` has room for that many answers.
  void MayContain(std::span<const std::string_view> keys, bool* may_match) const noexcept;
  void MayContainHashes(std::span<const uint64_t> hashes, bool* may_match) const noexcept {
    may_match_hashes_(view(), hashes.data(), hashes.size(), may_match);
  }
  /// @}

  /// Whether the filter may hold a key in [begin, end), in bytewise order. True if there is no
  /// range filter, or if begin >= end.
  bool MayContainRange(std::string_view begin, std::string_view end) const noexcept;

  ByteView bytes() const noexcept { return bytes_; }  ///< The filter block.
  State state() const noexcept { return state_; }     ///< State of the block.

 private:
  friend struct internal::FilterAccess;
  using View = internal::FilterView;
  static Result<Filter> Own(OwnedBytes block);
  void SetOps(const internal::ProbeOps& ops) noexcept;
  const View& view() const noexcept { return *reinterpret_cast<const View*>(view_.data()); }

  // Copies of the kernel's entry points, not a pointer to them: a probe costs one jump.
  bool (*may_match_key_)(const View&, std::string_view) noexcept;
  bool (*may_match_hash_)(const View&, uint64_t) noexcept;
  void (*may_match_hashes_)(const View&, const uint64_t*, size_t, bool*) noexcept;
  // Holds a View, which only the kernels read, with room for it to grow.
  alignas(uint64_t) std::array<std::byte, 256> view_{};
  State state_ = State::kUnreadable;
  ByteView bytes_;
  std::shared_ptr<const char[]> memory_;  // owns bytes_ if Build made the filter
  const internal::ProbeOps* ops_;         // all entry points
};

}  // namespace blocksieve
