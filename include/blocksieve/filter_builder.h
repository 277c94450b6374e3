#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/filter_kind.h"
#include "blocksieve/sizing.h"
#include "blocksieve/status.h"

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

  /// The same with another layout of the same kind, for this block only.
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

  /// The inverse: the most keys whose block fits in `block_bytes`; 0 if none do.
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

}  // namespace blocksieve
