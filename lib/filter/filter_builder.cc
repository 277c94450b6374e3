#include "blocksieve/filter.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "blocksieve/sizing.h"
#include "lib/base/block_memory.h"
#include "lib/base/errors.h"
#include "lib/filter/families.h"
#include "lib/filter/filter_access.h"
#include "lib/hash/hash_inline.h"
#include "lib/prefix/prefix_builder.h"
#include "lib/range/range_filter.h"

namespace blocksieve {
namespace {

// Up to this number of keys, the hashes are kept until the filter is built, so that another kind
// can be built from them if it fails, and the block is copied to its exact size: half a megabyte
// for a while. Larger filters have too many chunks for the failure of one to matter.
constexpr uint64_t kSmallFilterKeys = 1 << 16;

Status TooLarge(uint64_t num_keys, uint64_t bytes) {
  return Status::ResourceExhausted("filter of " + std::to_string(num_keys) + " keys takes " +
                                   std::to_string(bytes) + " bytes; allowed: less than " +
                                   std::to_string(kMaxFilterBlockBytes));
}

Status TooMuchMemory(uint64_t num_keys, uint64_t max_build_bytes) {
  return Status::ResourceExhausted(
      "building a filter of " + std::to_string(num_keys) + " keys takes more memory than " +
      (max_build_bytes == 0 ? "available"
                            : "max_build_bytes = " + std::to_string(max_build_bytes)));
}

OwnedBytes CutToSize(OwnedBytes block, uint64_t padding_bytes) {
  OwnedBytes cut = internal::AllocateBlock(block.size, padding_bytes);
  if (cut.memory == nullptr) return block;
  std::copy_n(block.data(), block.size, cut.data());
  return cut;
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
  [[gnu::visibility("hidden")]] void FinishSections(bool dropped) noexcept;
  [[gnu::visibility("hidden")]] Result<OwnedBytes> Build(const FilterOptions& options,
                                                         const Layout& layout,
                                                         internal::HashList* all);

  std::optional<RangeFilterBuilder> ranges;
  std::optional<PrefixBuilder> prefixes;
  std::string prefix_section;  // of the block that is being finished
  std::string range_section;
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

inline void FilterBuilder::Keys::FinishSections(bool dropped) noexcept try {
  no_ranges_reason.clear();
  prefix_section.clear();
  range_section.clear();
  if (prefixes && !dropped) prefix_section = prefixes->Finish();
  if (prefixes) prefixes->Reset();
  if (!ranges) return;
  if (dropped) return ranges->Reset();
  range_section = ranges->Finish();
  no_ranges_reason = ranges->absent_reason();
} catch (const std::bad_alloc&) {
  no_ranges_reason = "no memory";  // short enough for a string without an allocation
  prefix_section.clear();
  range_section.clear();
  if (prefixes) prefixes->Reset();
  if (ranges) ranges->Reset();
}

// `hashes` are changed only if a filter is built and they need not be kept.
inline Result<OwnedBytes> FilterBuilder::Keys::Build(const FilterOptions& options,
                                                     const Layout& layout,
                                                     internal::HashList* all) {
  const uint64_t count = all->size();
  internal::BlockContents contents{.kind = layout.kind, .num_keys = count};
  contents.prefixes = prefix_section;
  contents.ranges = range_section;
  const uint64_t section_bytes = prefix_section.size() + range_section.size();
  const bool keeps = options.keep_hashes || count <= kSmallFilterKeys;
  internal::PointPlan plan;
  if (count > 0) {
    plan =
        internal::VisitFamily(layout.kind, [&](auto family) { return family.Plan(layout, count); });
  }
  const uint64_t block_bytes = BlockBytes(layout, count);
  if (block_bytes >= kMaxFilterBlockBytes - section_bytes) return TooLarge(count, block_bytes);
  const uint64_t room = plan.capacity + section_bytes + internal::kMaxFooterBytes;
  const uint64_t hash_bytes = all->memory_bytes() * (plan.copies_hashes && keeps ? 2 : 1);
  const uint64_t build_bytes = hash_bytes + plan.working_bytes + plan.capacity +
                               internal::BytesAfterPoints(contents) - section_bytes;
  if (options.max_build_bytes != 0 && build_bytes > options.max_build_bytes) {
    return TooMuchMemory(count, options.max_build_bytes);
  }
  OwnedBytes block = internal::AllocateBlock(room, plan.padding_bytes);
  if (block.memory == nullptr) return TooMuchMemory(count, 0);
  internal::BuiltPoints built;
  if (count > 0) {
    built = internal::VisitFamily(
        layout.kind, [&](auto family) { return family.Build(all, keeps, layout, block.data()); });
  }
  if (!built.problem.empty() && keeps) return Status::ResourceExhausted(built.problem);
  if (!options.keep_hashes) all->Clear();
  contents.points_bytes = built.points_bytes;
  contents.fields = built.fields;
  contents.short_fields = built.short_fields;
  internal::FinishBlock(contents, &block);
  const bool is_loose = built.points_bytes < plan.capacity;
  return is_loose && count <= kSmallFilterKeys ? CutToSize(std::move(block), plan.padding_bytes)
                                               : std::move(block);
}

FilterBuilder::FilterBuilder(const FilterOptions& options, const Layout& layout)
    : options_(options), layout_(layout), keys_(std::make_unique<Keys>(options.max_build_bytes)) {}
FilterBuilder::FilterBuilder(FilterBuilder&&) noexcept = default;
FilterBuilder& FilterBuilder::operator=(FilterBuilder&&) noexcept = default;
FilterBuilder::~FilterBuilder() = default;

Result<FilterBuilder> FilterBuilder::Create(const FilterOptions& options) try {
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
  const uint64_t hash_bytes = builder.keys_->hashes.memory_bytes();
  const uint64_t num_keys = builder.num_keys();
  const uint64_t block_bytes = BlockBytes(layout, num_keys);
  if (num_keys == 0) return hash_bytes + block_bytes;
  const PointPlan plan =
      VisitFamily(layout.kind, [&](auto family) { return family.Plan(layout, num_keys); });
  return hash_bytes * (plan.copies_hashes && builder.options_.keep_hashes ? 2 : 1) +
         plan.working_bytes + block_bytes;
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
  const bool drops = std::exchange(keys_->drop_parts, false);
  if (keys_->prefixes && !drops) keys_->FinishPrefixes();
  const Layout chosen =
      keys_->prefixes ? LayoutWithPrefixes(*this, *keys_->prefixes, layout) : layout;
  keys_->FinishSections(drops);
  Result<OwnedBytes> block = FinishBlock(chosen);
  if (keys_->fallback_reason.empty()) keys_->fallback_reason = keys_->no_ranges_reason;
  return block;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Result<OwnedBytes> FilterBuilder::FinishBlock(const Layout& layout) try {
  internal::HashList hashes =
      std::exchange(keys_->hashes, internal::HashList(options_.max_build_bytes));
  keys_->built_hashes.Clear();
  keys_->fallback_reason.clear();
  const uint64_t num_keys = keys_->num_keys;
  std::atomic_ref(keys_->num_keys).store(0, std::memory_order_relaxed);
  if (hashes.exhausted()) {
    const uint64_t block_bytes = BlockBytes(layout, num_keys);
    if (block_bytes >= kMaxFilterBlockBytes) return TooLarge(num_keys, block_bytes);
    return TooMuchMemory(num_keys, options_.max_build_bytes);
  }
  Result<OwnedBytes> block = keys_->Build(options_, layout, &hashes);
  constexpr FilterKind kFallback = internal::FallbackFamily::kKind;
  if (!block.ok() && layout.kind != kFallback && hashes.size() == num_keys) {
    const Result<Layout> fallback =
        ChooseLayout(kFallback, std::max(layout.predicted_fpr, kMinTargetFpr));
    if (!fallback.ok()) return block;
    keys_->fallback_reason = block.status().message();
    block = keys_->Build(options_, *fallback, &hashes);
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
