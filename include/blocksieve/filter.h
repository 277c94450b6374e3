#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

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

class Filter;
class PointFilter;

/// Zero bytes at the end of every block. Stock RocksDB reads them as "no probes: always may match".
inline constexpr size_t kZeroTailBytes = 5;

/// Whether the last five bytes are zero, as in every blocksieve filter and in RocksDB's "always may
/// match". Other blocks are other programs' filters.
BLOCKSIEVE_EXPORT bool HasFilterBlockTail(ByteView block) noexcept;

enum class Kernel : uint8_t;

namespace internal {
struct FilterBody;

/// Filter::Open with another kernel, for tests. REQUIRES: it is available.
Filter OpenFilter(ByteView block, Kernel kernel) noexcept;

/// What takes the keys of a FilterBuilder: whether it has sections is known per file, not per key.
struct KeySink {
  void (*add_key)(KeySink*, std::string_view key) noexcept;
};

/// Where a builder's keys go; a moved-from builder drops them.
struct KeySinkPointer {
  BLOCKSIEVE_EXPORT static KeySink dropped;
  KeySink* to = &dropped;
};

}  // namespace internal

/// The entry points of one kind of filter on one kernel, which PointFilter calls with its state.
/// Hash and probe are one function, so that a probe costs one indirect call.
struct ProbeOps {
  /// @{
  /// PointFilter's functions, with its state.
  bool (*may_match_key)(const void* state, std::string_view key) noexcept;
  bool (*may_match_hash)(const void* state, uint64_t hash) noexcept;
  void (*may_match_hashes)(const void* state, const uint64_t* hashes, size_t num_hashes,
                           bool* may_match) noexcept;
  bool (*may_match_keys)(const void* state, KeyList keys, size_t num_keys,
                         bool* may_match) noexcept;
  /// @}
  size_t state_bytes;  ///< Size of the state, a multiple of 8.
};

/// A budget that the memory of a FilterBuilder is charged to. Called by the thread that adds keys
/// or finishes; must not throw.
class MemoryCharge {
 public:
  virtual ~MemoryCharge() = default;

  /// The keys added since the last Finish take this many bytes. Called as memory is allocated.
  virtual void Grow(uint64_t bytes) noexcept = 0;

  /// Finish will take this many bytes in all. Returns why there is no room, for logs: a filter of
  /// the kind that takes the least is then built instead. Null: there is room.
  virtual const char* Reserve(uint64_t bytes) noexcept = 0;
};

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
  /// Without a range filter if its estimated FPR (FilterDescription) would exceed this. 0 to 1.
  double max_estimated_range_fpr = 0.2;

  /// Rule that finds prefixes of keys, at up to 16 depths; empty: none. The filter then rules out
  /// ranges below absent prefixes. Keys should be added in bytewise order.
  ///   "delimiter:/"            prefixes end after each "/"; special bytes are written %XX
  ///   "delimiter:/,depth:3"    after the first three
  ///   "lengths:4,12"           after 4 and after 12 bytes
  ///   "fields:len8,2,len32,8"  after the last field, or each one with "*": sizes in bytes, or
  ///                            lengths of 8, 16 or 32 bits before the content: big-endian, or
  ///                            little-endian as in "len32le"; ",*" at the end, for the rest of
  ///                            the key, changes nothing
  ///   "auto"                   a delimiter or length for each file, for at most 0.3 bits per key
  std::string prefixes = {};
  /// Maximum share of absent prefixes that pass, kMinTargetFpr to kMaxTargetFpr. A prefix has one
  /// or more hashes in the key filter. Only with `prefixes`, like the following.
  double prefix_fpr = 0.01;
  /// The same where prefixes are few, so that this takes at most `max_few_prefixes` hashes a key: a
  /// seek wastes a read for each file that passes.
  double few_prefixes_fpr = 1e-4;
  double max_few_prefixes = 0.1;  ///< See `few_prefixes_fpr`. >= 0.
  /// Whether blocks keep the size that keys alone would take: prefixes have as many hashes as waste
  /// the fewest reads of lookups and seeks, or are left out (FinishedFilter::lacks_prefix_bits).
  bool prefixes_share_bits = false;
  /// Whether the key filter holds keys. False: only prefixes, so that every key may match. Then
  /// with `prefixes` and without `ranges`.
  bool holds_keys = true;

  /// Whether the block has a partition of a file: it never answers "no" to a range that extends
  /// past its last key.
  bool is_partition = false;

  /// Maximum memory for building, in bytes: key hashes, working memory and finished block together.
  /// The range filter may take as much again. 0: no limit.
  uint64_t max_build_bytes = 0;
  MemoryCharge* charge = nullptr;  ///< Null: none. Must outlive the builder.
  bool keep_hashes = false;        ///< Whether to keep the hashes after Finish, for VerifyBuilt.
};

/// A filter block, and how it differs from the options.
struct FinishedFilter {
  OwnedBytes block;                     ///< Never empty, even for no keys.
  FilterKind kind = FilterKind::kNone;  ///< Kind of the key filter.
  bool has_ranges = false;              ///< Whether it has a range filter.
  bool has_prefixes = false;            ///< Whether it has prefixes.
  uint64_t range_key_bytes = 0;         ///< Memory of the keys for the range filter.
  /// With prefixes_share_bits: whether prefixes were left out, as the smallest filter of keys and
  /// prefixes is larger than that of the keys should be.
  bool lacks_prefix_bits = false;
  /// Why the kind is not that of the layout: it exceeded max_build_bytes, had no room in the charge
  /// or no solution. It is then a blocked Bloom filter of the same FPR. Empty otherwise.
  std::string fallback_reason = {};
  /// Why there is no range filter, or are no prefixes: keys were too similar or out of order, or
  /// memory was short. Empty if there is one, or should be none.
  std::string no_ranges_reason = {};
};

/// FilterOptions::prefixes in the form that filters report it. Errors: InvalidArgument, with the
/// position.
BLOCKSIEVE_EXPORT Result<std::string> CanonicalPrefixRule(std::string_view text);

/// Collects the keys of one file, partition or granule and builds one filter block from them.
/// Call order: ( AddKey* Finish )*. Not thread-safe, but may move between threads. A moved-from
/// builder ignores keys, and its Finish is an error.
class BLOCKSIEVE_EXPORT FilterBuilder {
 public:
  /// Errors: InvalidArgument, naming the option, its value and the allowed range.
  static Result<FilterBuilder> Create(const FilterOptions& options);

  FilterBuilder(FilterBuilder&&) noexcept;             ///< See above.
  FilterBuilder& operator=(FilterBuilder&&) noexcept;  ///< See above.
  ~FilterBuilder();

  /// Adds a key: any bytes, including none. A key equal to one of the last two is counted once:
  /// engines add keys in order, and may add a prefix of each key after it.
  void AddKey(std::string_view key) noexcept { sink_.to->add_key(sink_.to, key); }

  /// Adds HashKey(key) to the key filter, and no key to sections.
  void AddHash(uint64_t hash) noexcept;

  /// Number of keys since the last Finish, adjacent duplicates counted once. O(1). The only
  /// function that other threads may call concurrently.
  uint64_t num_keys() const noexcept;

  /// @{
  /// The finished block, of layout() unless another is given for this block, and with sections
  /// unless they are left out. Resets the builder, also on error. Errors: InvalidArgument if the
  /// layout is none of sizing.h's of this library's kinds, or the builder was moved from;
  /// ResourceExhausted if the block would reach 4 GiB, max_build_bytes would be exceeded, or memory
  /// runs out.
  Result<FinishedFilter> Finish() { return Finish(layout_); }
  Result<FinishedFilter> Finish(const Layout& layout, bool with_sections = true);
  /// @}

  /// Checks that `block`, made by the last Finish, is readable, undamaged, not "always may match",
  /// and matches every key. Errors: Corruption; InvalidArgument without keep_hashes, or if a key
  /// was added since Finish.
  Status VerifyBuilt(ByteView block) const;

  const FilterOptions& options() const noexcept { return options_; }  ///< As given to Create.
  const Layout& layout() const noexcept { return layout_; }           ///< ChooseLayout for them.

 private:
  struct Keys;
  FilterBuilder(const FilterOptions& options, const Layout& layout);

  FilterOptions options_;
  Layout layout_;
  std::unique_ptr<Keys> keys_;
  internal::NewAfterMove<internal::KeySinkPointer> sink_;  // of keys_
};

/// Result of a range query: is there a key in [begin, end)?
enum class RangeAnswer : uint8_t {
  kMayMatch,  ///< There may be a key in the range.
  kNo,        ///< There is no key in the range.
  kBeyond,    ///< No key of this partition is in the range, but later partitions
              ///< may have one.
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

/// A filter to look keys up in, without sections for ranges and without its block, which must
/// outlive it: what an engine keeps for an open file. 48 bytes, of which a lookup reads at most
/// all, so that it touches one cache line of an object that is aligned. Immutable, cheap to copy,
/// thread-safe.
class BLOCKSIEVE_EXPORT PointFilter {
 public:
  PointFilter() noexcept;  ///< Everything may match.

  /// @{
  /// Whether the filter may hold a key (any bytes), or a key with this HashKey(key).
  bool MayContain(std::string_view key) const noexcept { return ops_->may_match_key(state_, key); }
  bool MayContainHash(uint64_t hash) const noexcept { return ops_->may_match_hash(state_, hash); }
  /// @}

  /// @{
  /// The same for many keys or hashes; faster, because it prefetches. Writes may_match[i] for each.
  /// For a KeyList, returns false only if no key is empty: an engine in which the empty key has a
  /// special meaning need not search for it then. REQUIRES: `may_match` has room for that many
  /// answers.
  bool MayContain(KeyList keys, size_t num_keys, bool* may_match) const noexcept {
    return ops_->may_match_keys(state_, keys, num_keys, may_match);
  }
  void MayContain(std::span<const std::string_view> keys, bool* may_match) const noexcept;
  void MayContainHashes(std::span<const uint64_t> hashes, bool* may_match) const noexcept {
    ops_->may_match_hashes(state_, hashes.data(), hashes.size(), may_match);
  }
  /// @}

  /// @{
  /// For engines that keep many small filters: the entry points, of which a process has few, and
  /// the bytes that they take, which may be copied to memory aligned to 8 bytes. A Bloom filter has
  /// 16.
  const ProbeOps& ops() const noexcept { return *ops_; }
  std::span<const std::byte> state() const noexcept { return {state_, ops_->state_bytes}; }
  /// @}

  /// @{
  /// For the kinds of filters in this library.
  static constexpr size_t kMaxStateBytes = 40;
  template <class State>
  PointFilter(const ProbeOps& ops, const State& state) noexcept : ops_(&ops) {
    static_assert(sizeof(State) <= kMaxStateBytes && alignof(State) <= alignof(uint64_t) &&
                  std::is_trivially_copyable_v<State>);
    std::memcpy(state_, &state, sizeof(state));
  }
  /// @}

 private:
  friend class Filter;
  alignas(uint64_t) std::byte state_[kMaxStateBytes] = {};  // first, as it is passed to the ops
  const ProbeOps* ops_;
};
static_assert(sizeof(PointFilter) == 48);

/// A filter of keys and of ranges of keys. Opening takes constant time, so that a filter may be
/// opened for a single lookup; it allocates only if the block has sections for ranges: once, 448
/// bytes with malloc's header. Immutable, cheap to copy, thread-safe. A moved-from filter
/// of Build is that of the default constructor; one of Open has lost its sections only.
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

  Filter() = default;                        ///< A kUnreadable filter: everything may match.
  Filter(const Filter&) noexcept = default;  ///< See above.
  Filter& operator=(const Filter&) noexcept = default;           ///< See above.
  Filter(Filter&& other) noexcept { *this = std::move(other); }  ///< See above.
  Filter& operator=(Filter&& other) noexcept {                   ///< See above.
    if (this == &other) return *this;
    parts_ = std::move(other.parts_);
    other.parts_.answers_ranges = false;
    if (parts_.owns_block) other.parts_ = Parts();
    return *this;
  }

  /// Builds the filter of a range of strings, in any order unless options.ranges is set. It owns
  /// its bytes. Duplicate keys enlarge a blocked Bloom filter, but hardly a ribbon. Errors: those
  /// of FilterBuilder::Create and Finish.
  template <std::ranges::input_range Keys>
  requires std::convertible_to<std::ranges::range_reference_t<Keys>, std::string_view>
  static Result<Filter> Build(Keys&& keys, const FilterOptions& options = {}) {
    Result<FilterBuilder> builder = FilterBuilder::Create(options);
    if (!builder.ok()) return builder.status();
    for (auto&& key : keys) builder->AddKey(key);
    Result<FinishedFilter> filter = builder->Finish();
    if (!filter.ok()) return filter.status();
    return Own(std::move(filter->block));
  }

  /// Opens a block of any alignment, which must outlive the filter and its copies. Never fails: see
  /// state().
  static Filter Open(ByteView block) noexcept;

  /// Compares all of a block with its checksums, in linear time. Errors: Corruption (too short,
  /// foreign, damaged), NotSupported (written by a later version).
  static Status Verify(ByteView block);

  /// The filter of keys. Valid as long as the block, or as this filter if Build made it.
  const PointFilter& points() const noexcept { return parts_.points; }

  /// That of points(), which has the same for hashes and batches.
  bool MayContain(std::string_view key) const noexcept { return parts_.points.MayContain(key); }

  /// Whether the block has sections for ranges.
  bool answers_ranges() const noexcept { return parts_.answers_ranges; }

  /// Whether some key may be in [begin, end), in bytewise order. kMayMatch without sections, or if
  /// begin >= end.
  RangeAnswer QueryRange(std::string_view begin, std::string_view end) const noexcept;

  /// The same without the reason.
  bool MayContainRange(std::string_view begin, std::string_view end) const noexcept {
    return QueryRange(begin, end) != RangeAnswer::kNo;
  }

  State state() const noexcept { return parts_.state; }  ///< State of the block.
  ByteView bytes() const noexcept;                       ///< The block, if Build made the filter.
  /// Memory of sections and bytes() in addition to the filter itself.
  size_t memory_bytes() const noexcept;

 private:
  friend Filter internal::OpenFilter(ByteView block, Kernel kernel) noexcept;
  static Result<Filter> Own(OwnedBytes block);

  struct Parts {
    PointFilter points;
    std::shared_ptr<const internal::FilterBody> body;  // sections, and the bytes if Build made them
    State state = State::kUnreadable;
    bool answers_ranges = false;
    bool owns_block = false;  // to which points refer
  };
  Parts parts_;
};
static_assert(sizeof(Filter) <= 80);

}  // namespace blocksieve
