// SPDX-License-Identifier: Apache-2.0
#include "lib/block/footer.h"

#include <algorithm>
#include <string>

namespace blocksieve {
namespace internal {
namespace {

// The tag is always the sixth byte from the end.
constexpr uint8_t kTagMask = 0xf0;
constexpr uint8_t kTag = 0xb0;
constexpr uint8_t kShortTag = 0x08;       // in the tag of a short block, which has the kind below
constexpr uint8_t kTagNumberMask = 0x07;  // version, or kind of a short block
constexpr uint8_t kVersion = 1;

constexpr size_t kTagBytes = 1 + kZeroTailBytes;
constexpr size_t kChecksumBytes = 4;
constexpr size_t kShortChecksumBytes = 3;
constexpr size_t kLongTailBytes = 1 + kChecksumBytes + kTagBytes;
constexpr size_t kShortTailBytes = kShortChecksumBytes + kTagBytes;

// Masks of the byte of kind and flags.
constexpr uint8_t kKindMask = 0x07;
constexpr uint8_t kHoldsNoKeys = 0x08;
constexpr uint8_t kIsNewer = 0x10;
constexpr uint8_t kIsEmpty = 0x20;
constexpr uint8_t kHasPrefixes = 0x40;
constexpr uint8_t kHasRanges = 0x80;

constexpr Problem kForeign{"no tag at its end; another program's filter, or cut off?"};
constexpr Problem kNewer{"written by a later version of this library", true};

// Seeded with the tag, which it need not cover.
uint32_t TaggedChecksum(ByteView bytes, uint8_t tag) noexcept {
  return static_cast<uint32_t>(WideChecksum(bytes, tag));
}

Problem ParseShort(ByteView block, uint8_t tag, Footer* footer) noexcept {
  if (block.size() <= kShortTailBytes || block.size() > kMaxShortBytes) {
    return {"size does not fit a short footer; allowed: 10 to 4096 bytes"};
  }
  footer->points = block.first(block.size() - kShortTailBytes);
  const uint8_t* const at = footer->points.data() + footer->points.size();
  const uint32_t checksum = at[0] | uint32_t{at[1]} << 8 | uint32_t{at[2]} << 16;
  if (checksum != (TaggedChecksum(footer->points, tag) & 0xffffff)) {
    return {"block checksum mismatch"};
  }
  footer->kind = static_cast<FilterKind>(tag & kTagNumberMask);
  footer->is_short = true;
  return {};
}

/// Reads the length and the checksum of a section, if it is there.
uint64_t ReadSection(bool is_there, Decoder* fields, uint32_t* checksum) noexcept {
  if (!is_there) return 0;
  const uint64_t bytes = fields->Varint();
  *checksum = fields->Fixed<uint32_t>();
  return bytes;
}

Problem ParseFields(Decoder fields, ByteView before, Footer* footer) noexcept {
  const auto first = fields.Fixed<uint8_t>();
  if ((first & kIsNewer) != 0) return kNewer;
  footer->kind = static_cast<FilterKind>(first & kKindMask);
  if ((first & kIsEmpty) != 0) {
    if ((first & ~kKindMask) != kIsEmpty || !fields.rest().empty() || !before.empty()) {
      return {"an empty filter has contents"};
    }
    return {};
  }
  footer->holds_keys = (first & kHoldsNoKeys) == 0;
  footer->num_keys = fields.Varint();
  footer->points_checksum = fields.Fixed<uint32_t>();
  const bool has_prefixes = (first & kHasPrefixes) != 0;
  const bool has_ranges = (first & kHasRanges) != 0;
  const uint64_t prefix_bytes = ReadSection(has_prefixes, &fields, &footer->prefixes_checksum);
  const uint64_t range_bytes = ReadSection(has_ranges, &fields, &footer->ranges_checksum);
  footer->fields = fields.rest();
  if (!fields.ok() || footer->num_keys == 0) return {"fields are truncated, or keys are 0"};
  if (has_prefixes != (prefix_bytes != 0) || has_ranges != (range_bytes != 0) ||
      prefix_bytes > before.size() || range_bytes > before.size() - prefix_bytes) {
    return {"lengths of the sections do not fit the block"};
  }
  if (!footer->holds_keys && (!has_prefixes || has_ranges)) {
    return {"a filter of prefixes alone has no prefixes, or has ranges"};
  }
  Decoder parts(before);
  footer->points = parts.Bytes(before.size() - prefix_bytes - range_bytes);
  footer->prefixes = parts.Bytes(prefix_bytes);
  footer->ranges = parts.Bytes(range_bytes);
  return {};
}

bool IsShort(const BlockPlan& plan, std::string_view prefixes, std::string_view ranges) noexcept {
  return plan.short_fields.size() != 0 && prefixes.empty() && ranges.empty() &&
         plan.points_bytes + plan.short_fields.size() + kShortTailBytes <= kMaxShortBytes;
}

using FooterBytes = FixedBytes<kMaxFooterBytes>;

void AppendTag(uint8_t tag, FooterBytes* footer) noexcept {
  footer->push_back(static_cast<char>(tag));
  for (size_t i = 0; i < kZeroTailBytes; ++i) footer->push_back('\0');
}

void AppendSection(std::string_view section, FooterBytes* footer) noexcept {
  if (section.empty()) return;
  AppendVarint(footer, section.size());
  AppendLittleEndian(footer, Checksum(AsBytes(section)));
}

/// The footer of a long block.
FooterBytes LongFooter(const BlockPlan& plan, ByteView points, std::string_view prefixes,
                       std::string_view ranges) noexcept {
  const bool is_empty = plan.num_keys == 0;
  FooterBytes footer;
  footer.push_back(static_cast<char>(static_cast<uint8_t>(plan.kind) | (is_empty ? kIsEmpty : 0) |
                                     (plan.holds_keys || is_empty ? 0 : kHoldsNoKeys) |
                                     (prefixes.empty() ? 0 : kHasPrefixes) |
                                     (ranges.empty() ? 0 : kHasRanges)));
  if (!is_empty) {
    AppendVarint(&footer, plan.num_keys);
    AppendLittleEndian(&footer, Checksum(points));
    AppendSection(prefixes, &footer);
    AppendSection(ranges, &footer);
    footer.append(reinterpret_cast<const char*>(plan.fields.view().data()), plan.fields.size());
  }
  footer.push_back(static_cast<char>(footer.size()));
  AppendLittleEndian(&footer, TaggedChecksum(footer.view(), kTag | kVersion));
  AppendTag(kTag | kVersion, &footer);
  return footer;
}

/// The footer of a short block. `block` has the points, followed by the fields.
FooterBytes ShortFooter(FilterKind kind, ByteView points_and_fields) noexcept {
  const auto tag = static_cast<uint8_t>(kTag | kShortTag | static_cast<uint8_t>(kind));
  const uint32_t checksum = TaggedChecksum(points_and_fields, tag);
  FooterBytes footer;
  for (size_t i = 0; i < kShortChecksumBytes; ++i) {
    footer.push_back(static_cast<char>(checksum >> 8 * i));
  }
  AppendTag(tag, &footer);
  return footer;
}

template <bool answer>
constexpr ProbeOps kAnswer = {
    [](const void*, std::string_view) noexcept { return answer; },
    [](const void*, uint64_t) noexcept { return answer; },
    [](const void*, const uint64_t*, size_t num_hashes, bool* may_match) noexcept {
      std::fill_n(may_match, num_hashes, answer);
    },
    [](const void*, KeyList, size_t num_keys, bool* may_match) noexcept {
      std::fill_n(may_match, num_keys, answer);
      return true;
    },
    0};

}  // namespace

constinit const ProbeOps kNothingMatches = kAnswer<false>;
constinit const ProbeOps kEverythingMatches = kAnswer<true>;

Problem ParseFooter(ByteView block, Footer* footer) noexcept {
  if (block.size() < kTagBytes || !HasFilterBlockTail(block)) return kForeign;
  const uint8_t tag = block[block.size() - kTagBytes];
  if ((tag & kTagMask) != kTag) return kForeign;
  if ((tag & kShortTag) != 0) return ParseShort(block, tag, footer);
  if ((tag & kTagNumberMask) != kVersion) return kNewer;
  if (block.size() < kLongTailBytes) return kForeign;
  const uint8_t* const tail = block.data() + block.size() - kLongTailBytes;
  const size_t field_bytes = *tail;
  if (block.size() - kLongTailBytes < field_bytes) return {"block is shorter than its footer"};
  const ByteView covered(tail - field_bytes, field_bytes + 1);
  if (LoadLittleEndian<uint32_t>(tail + 1) != TaggedChecksum(covered, tag)) {
    return {"footer checksum mismatch"};
  }
  return ParseFields(Decoder(covered.first(field_bytes)),
                     block.first(block.size() - kLongTailBytes - field_bytes), footer);
}

Problem VerifySections(const Footer& footer) noexcept {
  if (footer.is_short || footer.is_empty()) return {};  // all checked by ParseFooter
  if (Checksum(footer.points) != footer.points_checksum) return {"key filter checksum mismatch"};
  if (!footer.prefixes.empty() && Checksum(footer.prefixes) != footer.prefixes_checksum) {
    return {"prefixes checksum mismatch"};
  }
  if (!footer.ranges.empty() && Checksum(footer.ranges) != footer.ranges_checksum) {
    return {"ranges checksum mismatch"};
  }
  return {};
}

uint64_t BytesAfterPoints(const BlockPlan& plan, std::string_view prefixes,
                          std::string_view ranges) noexcept {
  if (IsShort(plan, prefixes, ranges)) return plan.short_fields.size() + kShortTailBytes;
  return prefixes.size() + ranges.size() + LongFooter(plan, {}, prefixes, ranges).size();
}

void FinishBlock(const BlockPlan& plan, std::string_view prefixes, std::string_view ranges,
                 OwnedBytes* block) noexcept {
  assert(plan.points_bytes + BytesAfterPoints(plan, prefixes, ranges) <= block->size);
  uint8_t* at = block->data() + plan.points_bytes;
  const auto append = [&](const auto& bytes) { at = std::copy(bytes.begin(), bytes.end(), at); };
  const auto before = [&] { return block->view().first(static_cast<size_t>(at - block->data())); };
  if (IsShort(plan, prefixes, ranges)) {
    append(plan.short_fields.view());
    append(ShortFooter(plan.kind, before()).view());
  } else {
    const FooterBytes footer = LongFooter(plan, before(), prefixes, ranges);
    append(prefixes);
    append(ranges);
    append(footer.view());
  }
  block->size = before().size();
}

Status ToStatus(const Problem& problem) {
  const std::string message = std::string("filter block: ") + problem.text;
  return problem.is_newer ? Status::NotSupported(message) : Status::Corruption(message);
}

}  // namespace internal

PointFilter::PointFilter() noexcept : ops_(&internal::kEverythingMatches) {}

bool HasFilterBlockTail(ByteView block) noexcept {
  if (block.size() < kZeroTailBytes) return false;
  return std::all_of(block.end() - kZeroTailBytes, block.end(), [](uint8_t b) { return b == 0; });
}

}  // namespace blocksieve
