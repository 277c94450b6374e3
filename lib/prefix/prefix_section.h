#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/filter.h"
#include "lib/base/coding.h"
#include "lib/prefix/prefix_rule.h"

namespace blocksieve {

namespace internal {

inline constexpr size_t kMaxLastKeyBytes = 1024;
inline constexpr unsigned kMaxPrefixLookups = 32;

/// An open section.
struct PrefixView {
  // Empty: no prefixes. The view has a copy of a short rule, because the end of the block, where
  // the rule is stored, is seldom in the processor's caches.
  ByteView rule() const noexcept {
    return {stored_rule.size() <= sizeof(short_rule) ? short_rule : stored_rule.data(),
            stored_rule.size()};
  }

  uint8_t short_rule[16];
  ByteView stored_rule;     // in the block; the last key of a partition follows
  uint32_t last_key_bytes;  // 0 in the filter of a whole file
  uint8_t num_lookups;      // hashes of a prefix in the point filter
  bool is_whole_file;
};

/// Appends a section. `partition_end`: the last key of a partition; null in the filter of a file.
void AppendPrefixSection(std::string_view rule, uint64_t num_prefixes, unsigned num_lookups,
                         const std::string* partition_end, std::string* out);

/// Reads a section without allocating. Without a rule if there is none, or it is damaged.
PrefixView ReadPrefixSection(ByteView bytes, uint64_t* num_prefixes = nullptr) noexcept;

/// The first hash of a prefix in the point filter, and the one after `hash`. The seed differs from
/// that of keys, so that a key never answers for a prefix.
uint64_t HashPrefix(std::string_view prefix) noexcept;
inline uint64_t NextPrefixHash(uint64_t hash) noexcept {
  hash = (hash ^ (hash >> 32)) * UINT64_C(0x9fb21c651e98df25);
  return hash ^ (hash >> 29);
}

/// The longest prefix that all keys in [begin, end) share, a view of `begin`; empty if begin >=
/// end. It is longer than what both ends share if `end` is the successor of a prefix of `begin`, as
/// "b" is of "a" and "a\xff".
inline std::string_view CommonPrefix(std::string_view begin, std::string_view end) noexcept {
  size_t common = SharedBytes(begin, end);
  if (common == end.size()) return {};
  if (common == begin.size()) return begin;
  const auto lower = static_cast<uint8_t>(begin[common]);
  const auto upper = static_cast<uint8_t>(end[common]);
  if (lower > upper) return {};
  if (end.size() != common + 1 || lower + 1 != upper) return begin.substr(0, common);
  // `end` is a successor: keys from `begin` to below it also share this byte of `begin`, and the
  // 0xff bytes that follow it, as no byte is greater.
  ++common;
  while (common < begin.size() && begin[common] == '\xff') ++common;
  return begin.substr(0, common);
}

/// CommonPrefix up to its last boundary; empty if it has none.
inline std::string_view PrefixOfRange(ByteView rule, std::string_view begin,
                                      std::string_view end) noexcept {
  const std::string_view common = CommonPrefix(begin, end);
  return common.substr(0, FindLongestPrefix(rule, common));
}

/// Looks up PrefixOfRange; kMayMatch without one. REQUIRES: the view has a rule
RangeAnswer QueryPrefixes(const PrefixView& prefixes, const PointFilter& points,
                          std::string_view begin, std::string_view end) noexcept;

}  // namespace internal
}  // namespace blocksieve
