#include "lib/prefix/prefix_part.h"

#include <algorithm>

#include "lib/base/coding.h"
#include "lib/base/errors.h"
#include "lib/block/parts.h"
#include "lib/block/seal.h"
#include "lib/hash/hash_inline.h"

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
  out->append(part.rule);
  out->append(part.is_whole_file ? "" : part.last_key.substr(0, kMaxLastKeyBytes));
}

PrefixView ReadPrefixPart(ByteView bytes, uint64_t* num_prefixes) noexcept {
  Decoder from(bytes);
  PrefixView part{};
  const auto flags = from.Fixed<uint8_t>();
  part.num_lookups = from.Fixed<uint8_t>();
  const uint64_t count = from.Varint();
  part.stored_rule = from.Bytes(from.Varint());
  if (part.stored_rule.size() <= sizeof(part.short_rule)) {
    std::copy(part.stored_rule.begin(), part.stored_rule.end(), part.short_rule);
  }
  part.last_key_bytes = static_cast<uint32_t>(from.rest().size());
  part.is_whole_file = (flags & kHoldsWholeFile) != 0;
  if (num_prefixes != nullptr) *num_prefixes = count;
  const bool is_sound = from.ok() && flags <= kHoldsWholeFile && part.num_lookups >= 1 &&
                        part.num_lookups <= kMaxPrefixLookups;
  return is_sound ? part : PrefixView{};
}

uint64_t HashPrefix(std::string_view prefix) noexcept {
  constexpr uint64_t kSeed = 0x5bd1e9955bd1e995;
  return prefix.size() <= kShortKeyBytes ? HashShortKey(prefix, kSeed) : HashKey(prefix, kSeed);
}

RangeAnswer QueryPrefixes(const FilterView& filter,
                          bool (*may_match)(const FilterView&, uint64_t hash) noexcept,
                          std::string_view begin, std::string_view end) noexcept {
  const PrefixView& part = filter.prefixes;
  const std::string_view prefix = PrefixOfRange(part.rule(), begin, end);
  if (prefix.empty()) return RangeAnswer::kMayMatch;
  uint64_t hash = HashPrefix(prefix);
  for (unsigned lookup = 0; may_match(filter, hash); hash = NextPrefixHash(hash)) {
    if (++lookup == part.num_lookups) return RangeAnswer::kMayMatch;
  }
  if (part.is_whole_file) return RangeAnswer::kNo;
  // Later partitions may hold keys with this prefix, unless this one ends after all such keys.
  const ByteView last_key(part.stored_rule.data() + part.stored_rule.size(), part.last_key_bytes);
  return AsText(last_key) > prefix ? RangeAnswer::kNo : RangeAnswer::kBeyond;
}

}  // namespace internal

Result<PrefixInfo> DescribePrefixes(ByteView block) try {
  const Result<internal::BlockParts> parts = internal::SplitBlock(block);
  if (!parts.ok()) return parts.status();
  PrefixInfo info;
  if (parts->prefixes.empty()) return info;
  const internal::PrefixView part = internal::ReadPrefixPart(parts->prefixes, &info.num_prefixes);
  if (part.rule().empty()) {
    return internal::DamagedBlock("prefixes of " + std::to_string(parts->prefixes.size()) +
                                  " bytes cannot be read");
  }
  info.rule = internal::PrefixRuleText(part.rule());
  if (info.rule.empty()) {
    return internal::DamagedBlock("prefix rule of " + std::to_string(part.rule().size()) +
                                  " bytes cannot be read");
  }
  info.num_lookups = part.num_lookups;
  info.bytes = block.size() - parts->filter.size();
  if (!parts->ranges.empty()) info.bytes = parts->prefixes.size();
  return info;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

}  // namespace blocksieve
