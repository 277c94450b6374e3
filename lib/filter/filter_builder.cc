#include "blocksieve/filter.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "lib/base/errors.h"
#include "lib/block/kind.h"
#include "lib/filter/block_sizing.h"
#include "lib/filter/filter_access.h"
#include "lib/hash/hash_inline.h"
#include "lib/prefix/prefix_builder.h"
#include "lib/range/range_filter.h"

namespace blocksieve {
namespace {

// A block without keys, or the error if the hashes exceeded the memory limit.
Result<OwnedBytes> BuildEmpty(const FilterInfo& plan, uint64_t block_bytes,
                              const internal::HashList& hashes, uint64_t max_build_bytes) {
  Result<OwnedBytes> block = internal::AllocateFilterBlock(
      plan, block_bytes,
      hashes.exhausted() ? internal::kExhausted : hashes.memory_bytes() + block_bytes,
      max_build_bytes);
  if (block.ok()) internal::Seal(plan, internal::FindKind(plan.kind)->format, &*block);
  return block;
}

// The layout of the point filter, whose bits keys may have to share with prefixes.
Layout LayoutWithPrefixes(const FilterBuilder& builder, const PrefixBuilder& prefixes,
                          const Layout& layout) {
  const uint64_t hashes = prefixes.num_hashes();
  if (!prefixes.options().share_bits || layout.kind != builder.options().kind || hashes == 0) {
    return layout;
  }
  const uint64_t block_bytes = BlockBytes(layout, builder.num_keys() - hashes);
  return LayoutForBlockBytes(layout.kind, builder.num_keys(), block_bytes);
}

}  // namespace

struct FilterBuilder::Keys {
  explicit Keys(uint64_t limit_bytes) : hashes(limit_bytes) {}

  void Add(uint64_t hash) noexcept {
    // num_keys distinguishes "no key yet" from a key that hashes to the initial value.
    if (hash == latest && num_keys >= 1) return;
    if (hash == before_latest && num_keys >= 2) {
      std::swap(latest, before_latest);
      return;
    }
    before_latest = latest;
    latest = hash;
    std::atomic_ref(num_keys).store(num_keys + 1, std::memory_order_relaxed);
    hashes.Append(hash);
  }

  // Out of line, so that AddKey, which runs for every key, need not save registers.
  [[gnu::noinline]] void AddLongKey(std::string_view key) noexcept { Add(HashKey(key)); }
  [[gnu::noinline]] void AddKeyAndToParts(std::string_view key) noexcept {
    AddToParts(key);
    Add(HashKey(key));
  }

  internal::HashList hashes;
  internal::HashList built_hashes;  // those of the last block, with keep_hashes
  // The parts for range queries.
  bool has_parts() const noexcept { return ranges || prefixes; }
  // Whether a key changes neither part.
  bool is_in_parts(std::string_view key) const noexcept {
    return !ranges && prefixes->HasNothingNew(key);
  }
  // Hidden, or they would be exported where they are not inlined, as FilterBuilder is.
  [[gnu::visibility("hidden")]] void AddToParts(std::string_view key) noexcept;
  [[gnu::visibility("hidden")]] void FinishPrefixes() noexcept;
  [[gnu::visibility("hidden")]] void FinishParts(OwnedBytes* block) noexcept;

  std::optional<RangeFilterBuilder> ranges;
  std::optional<PrefixBuilder> prefixes;
  std::string no_ranges_reason;
  bool drop_parts = false;  // from the next block
  std::string fallback_reason;
  uint64_t num_keys = 0;
  // The last two distinct hashes; valid from one and two num_keys on.
  uint64_t latest = 0;
  uint64_t before_latest = 0;
};

void FilterBuilder::Keys::AddToParts(std::string_view key) noexcept try {
  if (ranges) ranges->AddKey(key);
  if (!prefixes) return;
  for (const uint64_t hash : prefixes->AddKey(key)) Add(hash);
} catch (const std::bad_alloc&) {
  prefixes->GiveUp();
}

// To be called before the point filter is built, which holds the hashes of the prefixes.
inline void FilterBuilder::Keys::FinishPrefixes() noexcept try {
  const uint64_t num_added = prefixes->options().rule.empty() ? 0 : prefixes->num_hashes();
  for (const uint64_t hash : prefixes->FinishHashes(num_keys - num_added)) Add(hash);
} catch (const std::bad_alloc&) {
  prefixes->GiveUp();
}

// Appends the parts to the point filter, or resets them if it is null. Without memory for them the
// block stays a point filter.
inline void FilterBuilder::Keys::FinishParts(OwnedBytes* block) noexcept try {
  no_ranges_reason.clear();
  const std::string prefix_part = prefixes ? prefixes->Finish() : "";
  Status status;
  if (ranges) {
    status = ranges->Finish(block, prefix_part);
    if (block != nullptr) no_ranges_reason = ranges->absent_reason();
  } else if (block != nullptr) {
    status = internal::AppendParts(prefix_part, "", block);
  }
  if (!status.ok()) no_ranges_reason = status.message();
} catch (const std::bad_alloc&) {
  no_ranges_reason = "no memory";  // short enough for a string without an allocation
  if (prefixes) prefixes->Reset();
  if (ranges) static_cast<void>(ranges->Finish(nullptr));
}

FilterBuilder::FilterBuilder(const FilterOptions& options, const Layout& layout)
    : options_(options), layout_(layout), keys_(std::make_unique<Keys>(options.max_build_bytes)) {}
FilterBuilder::FilterBuilder(FilterBuilder&&) noexcept = default;
FilterBuilder& FilterBuilder::operator=(FilterBuilder&&) noexcept = default;
FilterBuilder::~FilterBuilder() = default;

Result<FilterBuilder> FilterBuilder::Create(const FilterOptions& options) try {
  const internal::KindEntry* entry = internal::FindKind(options.kind);
  if (entry == nullptr || !entry->building) {
    std::string allowed;
    for (const FilterKind kind : BuildableFilterKinds()) {
      allowed += (allowed.empty() ? "" : " or ") + std::string(FilterKindName(kind));
    }
    return Status::InvalidArgument("kind is " + std::string(FilterKindName(options.kind)) +
                                   "; allowed: " + allowed);
  }
  const Result<Layout> layout = ChooseLayout(options.kind, options.target_fpr);
  if (!layout.ok()) return layout.status();
  FilterBuilder builder(options, *layout);
  FilterParts parts;
  if (options.ranges) {
    parts.ranges = {.range_fpr = options.range_fpr, .max_build_bytes = options.max_build_bytes};
  }
  if (!options.prefixes.empty()) {
    Result<std::string> rule = options.prefixes == "auto"
                                   ? Result<std::string>("")
                                   : internal::ParsePrefixRule(options.prefixes);
    if (!rule.ok()) return rule.status();
    parts.prefixes = {.rule = *std::move(rule)};
  }
  Status status = internal::FilterAccess::AddParts(parts, &builder);
  if (!status.ok()) return status;
  return builder;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Status internal::FilterAccess::AddParts(const FilterParts& parts, FilterBuilder* builder) {
  if (parts.ranges) {
    Result<RangeFilterBuilder> ranges = RangeFilterBuilder::Create(*parts.ranges);
    if (!ranges.ok()) return ranges.status();
    builder->keys_->ranges = *std::move(ranges);
  }
  if (parts.prefixes) builder->keys_->prefixes.emplace(*parts.prefixes);
  return Status::Ok();
}

void internal::FilterAccess::AddPointHash(uint64_t hash, FilterBuilder* builder) noexcept {
  builder->keys_->Add(hash);
}

void internal::FilterAccess::DropParts(FilterBuilder* builder) {
  builder->keys_->drop_parts = true;
}

const std::string& internal::FilterAccess::NoRangesReason(const FilterBuilder& builder) noexcept {
  return builder.keys_->no_ranges_reason;
}

uint64_t internal::FilterAccess::PartsMemoryBytes(const FilterBuilder& builder) noexcept {
  return builder.keys_->ranges ? builder.keys_->ranges->memory_bytes() : 0;
}

uint64_t internal::FilterAccess::BuildBytes(const FilterBuilder& builder,
                                            const Layout& layout) noexcept {
  const auto working_bytes = FindKind(layout.kind)->building->working_bytes;
  const uint64_t hash_bytes = builder.keys_->hashes.memory_bytes();
  const uint64_t num_keys = builder.num_keys();
  const uint64_t block_bytes = BlockBytes(layout, num_keys);
  if (working_bytes == nullptr) return hash_bytes + block_bytes;
  return hash_bytes * (builder.options_.keep_hashes ? 2 : 1) + working_bytes(layout, num_keys) +
         block_bytes;
}

void FilterBuilder::AddKey(std::string_view key) noexcept {
  if (keys_->has_parts() && !keys_->is_in_parts(key)) [[unlikely]]
    return keys_->AddKeyAndToParts(key);
  if (key.size() > kShortKeyBytes) return keys_->AddLongKey(key);
  keys_->Add(HashShortKey(key));
}

void FilterBuilder::AddHash(uint64_t hash) noexcept {
  assert(!keys_->has_parts());
  keys_->Add(hash);
}

uint64_t FilterBuilder::num_keys() const noexcept {
  return std::atomic_ref(keys_->num_keys).load(std::memory_order_relaxed);
}

const std::string& FilterBuilder::fallback_reason() const noexcept {
  return keys_->fallback_reason;
}

Result<OwnedBytes> FilterBuilder::Finish(const Layout& layout) try {
  if (keys_->prefixes && !keys_->drop_parts) keys_->FinishPrefixes();
  Result<OwnedBytes> block =
      FinishPoints(keys_->prefixes ? LayoutWithPrefixes(*this, *keys_->prefixes, layout) : layout);
  if (!keys_->has_parts()) return block;
  const bool has_parts = block.ok() && !std::exchange(keys_->drop_parts, false);
  keys_->FinishParts(has_parts ? &*block : nullptr);
  if (keys_->fallback_reason.empty()) keys_->fallback_reason = keys_->no_ranges_reason;
  return block;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Result<OwnedBytes> FilterBuilder::FinishPoints(const Layout& layout) try {
  internal::HashList hashes =
      std::exchange(keys_->hashes, internal::HashList(options_.max_build_bytes));
  keys_->built_hashes.Clear();
  keys_->fallback_reason.clear();
  const uint64_t num_keys = keys_->num_keys;
  std::atomic_ref(keys_->num_keys).store(0, std::memory_order_relaxed);
  if (num_keys == 0 || hashes.exhausted()) {
    return BuildEmpty(PlanBlock(layout, num_keys), BlockBytes(layout, num_keys), hashes,
                      options_.max_build_bytes);
  }
  const auto build = [&](const Layout& chosen) {
    return internal::FindKind(chosen.kind)
        ->building->build(&hashes, options_.keep_hashes, chosen, options_.max_build_bytes);
  };
  Result<OwnedBytes> block = build(layout);
  if (!block.ok() && layout.kind != FilterKind::kBlockedBloom && hashes.size() == num_keys) {
    const Result<Layout> bloom =
        ChooseLayout(FilterKind::kBlockedBloom, std::max(layout.predicted_fpr, kMinTargetFpr));
    if (!bloom.ok()) return block;
    keys_->fallback_reason = block.status().message();
    block = build(*bloom);
  }
  if (block.ok() && options_.keep_hashes) keys_->built_hashes = std::move(hashes);
  return block;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Status FilterBuilder::VerifyBuilt(ByteView block) const try {
  assert(options_.keep_hashes && num_keys() == 0);
  if (Status status = Filter::Verify(block); !status.ok()) return status;
  const Filter filter = Filter::Open(block);
  bool all_match = true;
  keys_->built_hashes.ForEachRun([&](std::span<const uint64_t> run) {
    for (const uint64_t hash : run) all_match = all_match && filter.MayContainHash(hash);
  });
  if (!all_match) return Status::Corruption("filter block: a key that was added does not match");
  return Status::Ok();
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

}  // namespace blocksieve
