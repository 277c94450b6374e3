#include "lib/prefix/prefix_part.h"

#include <algorithm>

#include "lib/base/coding.h"
#include "lib/base/errors.h"
#include "lib/block/parts.h"
#include "lib/block/seal.h"
#include "lib/prefix/prefix_rule.h"

namespace blocksieve {
namespace internal {
namespace {

constexpr uint8_t kHoldsWholeFile = 1;

}  // namespace

void AppendPrefixPart(const PrefixPart& part, std::string* out) {
  out->push_back(static_cast<char>(part.is_whole_file ? kHoldsWholeFile : 0));
  out->push_back(static_cast<char>(part.num_lookups));
  AppendVarint(out, part.num_prefixes);
  AppendVarint(out, part.rule.size());
  out->append(AsText(part.rule));
  out->append(part.is_whole_file ? "" : part.last_key.substr(0, PrefixPart::kMaxLastKeyBytes));
}

bool ReadPrefixPart(ByteView bytes, PrefixPart* part) noexcept {
  Decoder from(bytes);
  const auto flags = from.Fixed<uint8_t>();
  part->num_lookups = from.Fixed<uint8_t>();
  part->num_prefixes = from.Varint();
  part->rule = from.Bytes(from.Varint());
  part->last_key = AsText(from.rest());
  part->is_whole_file = (flags & kHoldsWholeFile) != 0;
  return from.ok() && flags <= kHoldsWholeFile && part->num_lookups >= 1 &&
         part->num_lookups <= PrefixPart::kMaxLookups;
}

std::string_view CommonPrefix(std::string_view begin, std::string_view end) noexcept {
  size_t common = SharedBytes(begin, end);
  const bool is_successor =
      common < begin.size() && end.size() == common + 1 &&
      static_cast<uint8_t>(begin[common]) + 1 == static_cast<uint8_t>(end[common]);
  if (!is_successor) return begin.substr(0, common);
  // Keys from `begin` to below `end` also share this byte of `begin`, and the 0xff bytes that
  // follow it, as no byte is greater.
  ++common;
  while (common < begin.size() && begin[common] == '\xff') ++common;
  return begin.substr(0, common);
}

std::optional<std::string_view> PrefixOfRange(const PrefixPart& part, std::string_view begin,
                                              std::string_view end) noexcept {
  const std::string_view common = CommonPrefix(begin, end);
  const std::optional<size_t> longest = FindLongestPrefix(part.rule, common);
  if (!longest) return std::nullopt;
  return common.substr(0, *longest);
}

}  // namespace internal

Result<PrefixInfo> DescribePrefixes(ByteView block) try {
  const Result<internal::BlockParts> parts = internal::SplitBlock(block);
  if (!parts.ok()) return parts.status();
  PrefixInfo info;
  if (parts->prefixes.empty()) return info;
  internal::PrefixPart part;
  if (!internal::ReadPrefixPart(parts->prefixes, &part)) {
    return internal::DamagedBlock("prefixes of " + std::to_string(parts->prefixes.size()) +
                                  " bytes cannot be read");
  }
  info.rule = internal::PrefixRuleText(part.rule);
  if (info.rule.empty()) {
    return internal::DamagedBlock("prefix rule of " + std::to_string(part.rule.size()) +
                                  " bytes cannot be read");
  }
  info.num_prefixes = part.num_prefixes;
  info.num_lookups = part.num_lookups;
  info.bytes = block.size() - parts->filter.size();
  if (!parts->ranges.empty()) info.bytes = parts->prefixes.size();
  return info;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

}  // namespace blocksieve
