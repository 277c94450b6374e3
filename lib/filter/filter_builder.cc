// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/filter.h"
#include "blocksieve/sizing.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "lib/base/block_memory.h"
#include "lib/base/errors.h"
#include "lib/filter/kinds.h"
#include "lib/hash/hash_inline.h"
#include "lib/prefix/prefix_builder.h"
#include "lib/range/range_filter.h"

namespace blocksieve {
namespace {

// Up to this number of keys, the hashes are kept until the filter is built, so that another kind
// can be built from them if it fails, and the block is copied to its exact size: half a megabyte
// for a while. Larger filters have too many chunks for the failure of one to matter.
constexpr uint64_t kSmallFilterKeys = 1 << 16;

Status MovedFrom() { return Status::InvalidArgument("the filter builder was moved from"); }

Status TooMuchMemory(uint64_t num_keys, uint64_t max_build_bytes) {
  return Status::ResourceExhausted(
      "building a filter of " + std::to_string(num_keys) + " keys takes more memory than " +
      (max_build_bytes == 0 ? "available"
                            : "max_build_bytes = " + std::to_string(max_build_bytes)));
}

// A filter without points must have ranges. Prefixes beside them then rule nothing out, but their
// section has its size, which advice asks for.
Status CheckKind(FilterKind kind, const FilterOptions& options) {
  const bool is_useless = kind == FilterKind::kNone && !options.ranges;
  return internal::IsKind(kind) && !is_useless ? Status::Ok() : internal::UnknownKind(kind);
}

// Also of what is not used: a number out of its range is a mistake in any case.
Status CheckOptions(const FilterOptions& options) {
  BLOCKSIEVE_RETURN_IF_ERROR(CheckKind(options.kind, options));
  if (!options.holds_keys && (options.prefixes.empty() || options.ranges)) {
    return Status::InvalidArgument(
        "holds_keys is false; allowed: true, or with prefixes and without ranges");
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const auto& [name, number, lowest, highest] :
       {std::tuple("target_fpr", options.target_fpr, kMinTargetFpr, kMaxTargetFpr),
        {"range_fpr", options.range_fpr, kMinRangeFpr, kMaxRangeFpr},
        {"max_estimated_range_fpr", options.max_estimated_range_fpr, 0, 1},
        {"prefix_fpr", options.prefix_fpr, kMinTargetFpr, kMaxTargetFpr},
        {"few_prefixes_fpr", options.few_prefixes_fpr, kMinTargetFpr, kMaxTargetFpr},
        {"max_few_prefixes", options.max_few_prefixes, 0, kInfinity}}) {
    BLOCKSIEVE_RETURN_IF_ERROR(internal::CheckRange(name, number, lowest, highest));
  }
  return Status::Ok();
}

// Errors: InvalidArgument unless a filter of the layout rules something out.
Status CheckLayout(const Layout& layout, const FilterOptions& options) {
  BLOCKSIEVE_RETURN_IF_ERROR(CheckKind(layout.kind, options));
  if (layout.kind == FilterKind::kNone) return Status::Ok();
  return internal::VisitKind(layout.kind, [&](auto impl) -> Status {
    BLOCKSIEVE_RETURN_IF_ERROR(
        internal::CheckRange("num_probes", layout.num_probes, 1, impl.kMaxProbes));
    return internal::CheckRange("bits_per_key", layout.bits_per_key, impl.MinBitsPerKey(),
                                impl.kMaxBitsPerKey);
  });
}

OwnedBytes CutToSize(OwnedBytes block, uint64_t padding_bytes) {
  OwnedBytes cut = internal::AllocateBlock(block.size, padding_bytes);
  if (cut.memory == nullptr) return block;
  std::copy_n(block.data(), block.size, cut.data());
  return cut;
}

// The layout of a filter of `layout`'s size whose bits keys share with prefixes. Lowers the hashes
// of each prefix where lookups and seeks then waste fewer reads together, to 0 where the smallest
// filter of keys and prefixes is larger. With as many hashes as the rate of keys alone asks for,
// less memory took more of them: 8.2 bits per key where 2 were asked for.
Layout ShareBits(const Layout& layout, uint64_t num_keys, uint64_t num_prefixes,
                 unsigned* num_lookups) {
  constexpr double kTolerance = 1.04;  // what a level 0 to come leaves of one bit for each
  const uint64_t block_bytes = BlockBytes(layout, num_keys, /*has_sections=*/true);
  Layout best = layout;
  double fewest_reads = 2;
  for (unsigned lookups = std::exchange(*num_lookups, 0); lookups >= 1; --lookups) {
    const uint64_t hashes = num_keys + lookups * num_prefixes;
    const Layout shared = LayoutForBlockBytes(layout.kind, hashes, block_bytes);
    const auto bytes = static_cast<double>(BlockBytes(shared, hashes, /*has_sections=*/true));
    if (bytes > kTolerance * static_cast<double>(block_bytes)) continue;
    const double reads = shared.predicted_fpr + std::pow(shared.predicted_fpr, lookups);
    if (reads >= fewest_reads) continue;
    fewest_reads = reads;
    best = shared;
    *num_lookups = lookups;
  }
  return best;
}

}  // namespace

// Hidden, or its functions would be exported where they are not inlined, as FilterBuilder is.
struct __attribute__((visibility("hidden"))) FilterBuilder::Keys : internal::KeySink {
  explicit Keys(const FilterOptions& options)
      : KeySink{&AddPoint},
        max_build_bytes(options.max_build_bytes),
        hashes(options.max_build_bytes),
        charge(options.charge) {}

  // Adding a hash or key. What AddKey takes for every key: to the points alone, ...
  static void AddPoint(KeySink* sink, std::string_view key) noexcept {
    auto* const keys = static_cast<Keys*>(sink);
    if (IsMediumKey(key)) [[likely]]
      return keys->Add(HashMediumKey(key));
    if (key.size() > kShortKeyBytes) return keys->AddLongKey(key);
    keys->Add(HashShortKey(key));
  }
  // ... with ranges, with prefixes, and with prefixes alone.
  static void AddToRanges(KeySink* sink, std::string_view key) noexcept {
    static_cast<Keys*>(sink)->ranges->AddKey(key);
    AddPoint(sink, key);
  }
  static void AddToAll(KeySink* sink, std::string_view key) noexcept {
    auto* const keys = static_cast<Keys*>(sink);
    if (!keys->IsInSections(key)) [[unlikely]]
      return keys->AddKeyAndToSections(key);
    AddPoint(sink, key);
  }
  static void AddToPrefixes(KeySink* sink, std::string_view key) noexcept {
    auto* const keys = static_cast<Keys*>(sink);
    ++keys->num_section_keys;
    if (!keys->IsInSections(key)) keys->AddToSections(key);
  }

  void Add(uint64_t hash) noexcept {
    // num_keys distinguishes "no key yet" from a key that hashes to the initial value.
    if (hash == latest && num_keys >= 1) return;
    if (hash == before_latest && num_keys >= 2) {
      std::swap(latest, before_latest);
      return;
    }
    before_latest = latest;
    latest = hash;
    num_keys.store(num_keys.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (hashes.needs_memory()) [[unlikely]]
      return AppendAndCharge(hash);
    hashes.Append(hash);
  }

  // Out of line, so that AddKey, which runs for every key, need not save registers.
  [[gnu::noinline]] void AddLongKey(std::string_view key) noexcept { Add(HashKey(key)); }
  [[gnu::noinline]] void AddKeyAndToSections(std::string_view key) noexcept {
    if (ranges || !prefixes->HasNoNewDelimiter(key)) AddToSections(key);
    AddPoint(this, key);
  }
  [[gnu::noinline]] void AppendAndCharge(uint64_t hash) noexcept {
    LimitPrefixes();
    hashes.Append(hash);
    if (charge == nullptr) return;
    charge->Grow(hashes.memory_bytes() + (ranges ? ranges->memory_bytes() : 0));
  }

  // Whether a key changes no section.
  bool IsInSections(std::string_view key) const noexcept {
    return !ranges && prefixes->HasNothingNew(key);
  }
  void AddToSections(std::string_view key) noexcept;

  // Gives up prefixes where they and the next hashes would exceed the limit.
  void LimitPrefixes() noexcept {
    if (!prefixes || max_build_bytes == 0) return;
    const uint64_t bytes = hashes.memory_bytes() + hashes.next_bytes() + prefixes->memory_bytes();
    if (bytes > max_build_bytes) prefixes->GiveUp();
  }

  // Finishing a block, in this order.
  Layout FinishPrefixes(const FilterOptions& options, const Layout& layout) noexcept;
  void FinishSections(bool with_sections) noexcept;
  Result<FinishedFilter> BuildOrFallBack(const FilterOptions& options, const Layout& layout);
  Result<FinishedFilter> Build(const FilterOptions& options, const Layout& layout);
  uint64_t BuildBytes(const Layout& layout, bool keep) const noexcept;
  void Clear() noexcept {
    hashes.Clear();
    num_keys.store(0, std::memory_order_relaxed);
    num_section_keys = 0;
  }

  const uint64_t max_build_bytes;
  internal::HashList hashes;
  MemoryCharge* charge;
  internal::HashList built_hashes;  // those of the last block, with keep_hashes
  std::optional<RangeFilterBuilder> ranges;
  std::optional<PrefixBuilder> prefixes;
  std::string prefix_section;  // of the block that is being finished
  std::string range_section;
  std::string no_ranges_reason;
  bool lacks_prefix_bits = false;
  std::atomic<uint64_t> num_keys = 0;  // other threads may read it
  uint64_t num_section_keys = 0;       // without holds_keys, which counts hashes of prefixes only
  // The last two distinct hashes; valid from one and two num_keys on.
  uint64_t latest = 0;
  uint64_t before_latest = 0;
};

void FilterBuilder::Keys::AddToSections(std::string_view key) noexcept try {
  if (ranges) ranges->AddKey(key);
  if (!prefixes) return;
  for (const uint64_t hash : prefixes->AddKey(key)) Add(hash);
  LimitPrefixes();
} catch (const std::bad_alloc&) {
  prefixes->GiveUp();
}

// To be called before the point filter is built, which holds the hashes of the prefixes. Returns
// its layout.
inline Layout FilterBuilder::Keys::FinishPrefixes(const FilterOptions& options,
                                                  const Layout& layout) noexcept try {
  const uint64_t num_points = num_keys - prefixes->num_added();
  unsigned lookups = prefixes->WantedLookups(num_points);
  const uint64_t num_prefixes = prefixes->num_prefixes();
  const bool shares = options.prefixes_share_bits && options.holds_keys &&
                      layout.kind == options.kind && layout.kind != FilterKind::kNone;
  Layout chosen = layout;
  if (shares && num_prefixes != 0) {
    chosen = ShareBits(layout, num_points, num_prefixes, &lookups);
    lacks_prefix_bits = lookups == 0;
    if (lacks_prefix_bits) {
      prefixes->Reset();
      return layout;
    }
  }
  for (const uint64_t hash : prefixes->FinishHashes(lookups)) Add(hash);
  return chosen;
} catch (const std::bad_alloc&) {
  prefixes->GiveUp();
  return layout;
}

inline void FilterBuilder::Keys::FinishSections(bool with_sections) noexcept {
  try {
    no_ranges_reason.clear();
    const bool has_lost_prefixes = prefixes && with_sections && !prefixes->is_sound();
    prefix_section = prefixes && with_sections ? prefixes->Finish() : "";
    range_section = ranges && with_sections ? ranges->Finish() : "";
    if (ranges && with_sections) no_ranges_reason = ranges->absent_reason();
    if (has_lost_prefixes && no_ranges_reason.empty()) {
      no_ranges_reason =
          "too little memory for prefixes, max_build_bytes = " + std::to_string(max_build_bytes);
    }
  } catch (const std::bad_alloc&) {
    no_ranges_reason = "no memory";  // short enough for a string without an allocation
    prefix_section.clear();
    range_section.clear();
  }
  if (prefixes) prefixes->Reset();
  if (ranges) ranges->Reset();
}

// Peak memory of Build, without sections.
inline uint64_t FilterBuilder::Keys::BuildBytes(const Layout& layout, bool keep) const noexcept {
  const internal::BlockPlan plan = internal::PlanBlock(layout, num_keys);
  return hashes.memory_bytes() * (plan.copies_hashes && keep ? 2 : 1) + plan.working_bytes +
         BlockBytes(layout, num_keys);
}

// Changes the hashes only if a filter is built and they need not be kept.
inline Result<FinishedFilter> FilterBuilder::Keys::Build(const FilterOptions& options,
                                                         const Layout& layout) {
  const uint64_t block_bytes = BlockBytes(layout, num_keys);
  const uint64_t section_bytes = prefix_section.size() + range_section.size();
  if (block_bytes >= kMaxFilterBlockBytes - section_bytes) {
    return Status::ResourceExhausted("filter of " + std::to_string(num_keys) + " keys takes " +
                                     std::to_string(block_bytes) + " bytes; allowed: less than " +
                                     std::to_string(kMaxFilterBlockBytes));
  }
  if (hashes.exhausted()) return TooMuchMemory(num_keys, options.max_build_bytes);
  const bool keeps = options.keep_hashes || num_keys <= kSmallFilterKeys;
  internal::BlockPlan plan = internal::PlanBlock(layout, num_keys);
  plan.holds_keys = options.holds_keys;
  // No key has a prefix, or prefixes were left out: that is no filter without keys.
  if (!options.holds_keys && prefix_section.empty() && num_section_keys != 0) {
    plan = {.kind = FilterKind::kNone, .num_keys = num_section_keys};
  }
  if (options.max_build_bytes != 0 &&
      BuildBytes(layout, keeps) + plan.capacity - plan.points_bytes > options.max_build_bytes) {
    return TooMuchMemory(num_keys, options.max_build_bytes);
  }
  OwnedBytes block = internal::AllocateBlock(
      plan.capacity + section_bytes + internal::kMaxFooterBytes, plan.padding_bytes);
  if (block.memory == nullptr) return TooMuchMemory(num_keys, 0);
  std::string problem;
  if (plan.num_keys > 0) {
    problem = internal::VisitKind(plan.kind, [&](auto impl) {
      return impl.Build(&hashes, keeps, layout, block.data(), &plan);
    });
  }
  if (!problem.empty() && keeps) return Status::ResourceExhausted(std::move(problem));
  internal::FinishBlock(plan, prefix_section, range_section, &block);
  const bool is_loose = plan.points_bytes < plan.capacity && num_keys <= kSmallFilterKeys;
  return FinishedFilter{
      .block = is_loose ? CutToSize(std::move(block), plan.padding_bytes) : std::move(block),
      .kind = plan.kind,
      .has_ranges = !range_section.empty(),
      .has_prefixes = !prefix_section.empty()};
}

inline Result<FinishedFilter> FilterBuilder::Keys::BuildOrFallBack(const FilterOptions& options,
                                                                   const Layout& layout) {
  constexpr FilterKind kFallback = internal::FallbackKind::kKind;
  const bool has_smaller = layout.kind != kFallback && layout.kind != FilterKind::kNone;
  const uint64_t num_hashes = hashes.size();
  std::string problem;
  if (charge != nullptr) {
    const char* const no_room = charge->Reserve(BuildBytes(layout, options.keep_hashes));
    if (no_room != nullptr && has_smaller) problem = no_room;
  }
  if (problem.empty()) {
    Result<FinishedFilter> filter = Build(options, layout);
    if (filter.ok() || !has_smaller || hashes.size() != num_hashes || hashes.exhausted()) {
      return filter;
    }
    problem = filter.status().message();
  }
  BLOCKSIEVE_ASSIGN_OR_RETURN(
      const Layout fallback,
      ChooseLayout(kFallback, std::max(layout.predicted_fpr, kMinTargetFpr)));
  if (charge != nullptr) charge->Reserve(BuildBytes(fallback, options.keep_hashes));
  Result<FinishedFilter> filter = Build(options, fallback);
  if (filter.ok()) filter->fallback_reason = std::move(problem);
  return filter;
}

FilterBuilder::FilterBuilder(const FilterOptions& options, const Layout& layout)
    : options_(options),
      layout_(layout),
      keys_(std::make_unique<Keys>(options)),
      sink_(internal::KeySinkPointer{keys_.get()}) {}
FilterBuilder::FilterBuilder(FilterBuilder&&) noexcept = default;
FilterBuilder& FilterBuilder::operator=(FilterBuilder&&) noexcept = default;
FilterBuilder::~FilterBuilder() = default;

constinit internal::KeySink internal::KeySinkPointer::dropped = {
    [](KeySink*, std::string_view) noexcept {}};

Result<FilterBuilder> FilterBuilder::Create(const FilterOptions& options) try {
  BLOCKSIEVE_RETURN_IF_ERROR(CheckOptions(options));
  BLOCKSIEVE_ASSIGN_OR_RETURN(const Layout layout,
                              options.kind == FilterKind::kNone
                                  ? Layout{FilterKind::kNone}
                                  : ChooseLayout(options.kind, options.target_fpr));
  FilterBuilder builder(options, layout);
  Keys& keys = *builder.keys_;
  if (options.ranges) {
    BLOCKSIEVE_ASSIGN_OR_RETURN(keys.ranges, RangeFilterBuilder::Create(options));
  }
  if (!options.prefixes.empty()) {
    BLOCKSIEVE_ASSIGN_OR_RETURN(keys.prefixes, PrefixBuilder::Create(options));
  }
  if (options.ranges || keys.prefixes) {
    keys.add_key = !options.holds_keys ? &Keys::AddToPrefixes
                   : keys.prefixes     ? &Keys::AddToAll
                                       : &Keys::AddToRanges;
  }
  return builder;
}
BLOCKSIEVE_CATCH_BAD_ALLOC

void FilterBuilder::AddHash(uint64_t hash) noexcept {
  if (keys_ != nullptr) keys_->Add(hash);
}

uint64_t FilterBuilder::num_keys() const noexcept {
  return keys_ == nullptr ? 0 : keys_->num_keys.load(std::memory_order_relaxed);
}

Result<FinishedFilter> FilterBuilder::Finish(const Layout& layout, bool with_sections) try {
  if (keys_ == nullptr) return MovedFrom();
  Keys& keys = *keys_;
  if (Status status = CheckLayout(layout, options_); !status.ok()) {
    keys.FinishSections(/*with_sections=*/false);
    keys.Clear();
    return status;
  }
  const uint64_t range_key_bytes = keys.ranges ? keys.ranges->memory_bytes() : 0;
  keys.lacks_prefix_bits = false;
  const Layout chosen =
      keys.prefixes && with_sections ? keys.FinishPrefixes(options_, layout) : layout;
  keys.FinishSections(with_sections);
  keys.built_hashes.Clear();
  Result<FinishedFilter> filter = keys.BuildOrFallBack(options_, chosen);
  if (filter.ok() && options_.keep_hashes) std::swap(keys.built_hashes, keys.hashes);
  keys.Clear();
  if (!filter.ok()) return filter;
  filter->range_key_bytes = range_key_bytes;
  filter->lacks_prefix_bits = keys.lacks_prefix_bits;
  filter->no_ranges_reason = keys.no_ranges_reason;
  return filter;
} catch (const std::bad_alloc&) {
  keys_->Clear();
  return internal::OutOfMemory();
}

Status FilterBuilder::VerifyBuilt(ByteView block) const try {
  if (!options_.keep_hashes || num_keys() != 0) {
    return Status::InvalidArgument("VerifyBuilt needs keep_hashes, and no key since Finish");
  }
  if (keys_ == nullptr) return MovedFrom();
  BLOCKSIEVE_RETURN_IF_ERROR(Filter::Verify(block));
  const Filter filter = Filter::Open(block);
  bool all_match = true;
  keys_->built_hashes.ForEachRun([&](std::span<const uint64_t> run) {
    for (const uint64_t hash : run) all_match = all_match && filter.points().MayContainHash(hash);
  });
  if (!all_match) return Status::Corruption("filter block: a key that was added does not match");
  return Status::Ok();
}
BLOCKSIEVE_CATCH_BAD_ALLOC

}  // namespace blocksieve
