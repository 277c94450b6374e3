#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/hash.h"
#include "blocksieve/status.h"
#include "lib/block/parts.h"

namespace blocksieve {

/// Description of the prefix part of a filter block.
struct PrefixInfo {
  std::string rule;           ///< Boundaries, as in the option `prefixes`; empty: no prefixes.
  uint64_t num_prefixes = 0;  ///< Distinct ones.
  unsigned num_lookups = 0;   ///< Hashes per prefix in the point filter.
  /// Size of the part, without the hashes in the point filter; with the footer if no ranges follow.
  uint64_t bytes = 0;
};

/// Describes the prefix part of a filter block. Errors: Corruption, NotSupported.
Result<PrefixInfo> DescribePrefixes(ByteView block);

namespace internal {

/// A prefix part. Its views refer to the bytes that it was read from.
struct PrefixPart {
  ByteView rule;
  uint64_t num_prefixes = 0;
  unsigned num_lookups = 1;
  bool is_whole_file = false;
  /// The last key of a partition, truncated to kMaxLastKeyBytes; empty in the filter of a file.
  std::string_view last_key;

  static constexpr size_t kMaxLastKeyBytes = 1024;
  static constexpr unsigned kMaxLookups = 32;
};

void AppendPrefixPart(const PrefixPart& part, std::string* out);

/// Reads a part without allocating; false if it is damaged.
bool ReadPrefixPart(ByteView bytes, PrefixPart* part) noexcept;

/// The first hash of a prefix in the point filter, and the one after `hash`. The seed differs from
/// that of keys, so that a key never answers for a prefix.
inline uint64_t HashPrefix(std::string_view prefix, uint64_t hash_seed) noexcept {
  return HashKey(prefix, hash_seed ^ UINT64_C(0x5bd1e9955bd1e995));
}
inline uint64_t NextPrefixHash(uint64_t hash) noexcept {
  hash = (hash ^ (hash >> 32)) * UINT64_C(0x9fb21c651e98df25);
  return hash ^ (hash >> 29);
}

/// The longest prefix that all keys in [begin, end) share, a view of `begin`. It is longer than
/// what both ends share if `end` is the successor of a prefix of `begin`, as "b" is of "a" and
/// "a\xff". REQUIRES: begin < end
std::string_view CommonPrefix(std::string_view begin, std::string_view end) noexcept;

/// CommonPrefix up to its last boundary; nothing if it has none.
std::optional<std::string_view> PrefixOfRange(const PrefixPart& part, std::string_view begin,
                                              std::string_view end) noexcept;

/// Looks up PrefixOfRange; kMayMatch without one. `may_match` queries the point filter for a hash.
template <class MayMatchHash>
RangeAnswer QueryPrefixes(ByteView prefixes, uint64_t hash_seed, std::string_view begin,
                          std::string_view end, const MayMatchHash& may_match) {
  PrefixPart part;
  if (begin >= end || !ReadPrefixPart(prefixes, &part)) return RangeAnswer::kMayMatch;
  const std::optional<std::string_view> prefix = PrefixOfRange(part, begin, end);
  if (!prefix) return RangeAnswer::kMayMatch;
  uint64_t hash = HashPrefix(*prefix, hash_seed);
  for (unsigned lookup = 0; may_match(hash); hash = NextPrefixHash(hash)) {
    if (++lookup == part.num_lookups) return RangeAnswer::kMayMatch;
  }
  // Later partitions may hold keys with this prefix, unless this one ends after all such keys.
  return part.is_whole_file || part.last_key > *prefix ? RangeAnswer::kNo : RangeAnswer::kBeyond;
}

}  // namespace internal
}  // namespace blocksieve
