#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/hash.h"
#include "lib/base/kernels.h"
#include "lib/hash/key_list.h"

// An open filter, as its probes see it.

namespace blocksieve::internal {

/// Constants of kernels that test a register of positions at a time.
struct PatternRow {
  uint32_t factors[16];  // copies of the first from the number of probes on
  uint32_t ones[16];     // loaded, because computing them takes two instructions
};

struct BlockedBloomView {
  uint64_t num_lines;         // >= 1
  uint32_t num_probes;        // 1 .. 16
  const PatternRow* pattern;  // the row of num_probes
};

struct RibbonView {
  const uint8_t* directory;  // entries of the chunks; unused if there is only one chunk
  const uint8_t* bases;      // base positions of groups of chunks
  uint64_t num_chunks;       // >= 1
  uint64_t fast_segments;    // later segments are probed word by word: a window may reach the end
  uint64_t narrow_segments;  // later segments are wide: they have one more column
  // For narrow segments (or all, if their widths are equal) and for wide ones: segment i begins at
  // address origin + i * stride, and has one column per set bit of in_use.
  uintptr_t origin[2];
  uint64_t stride[2];
  uint32_t in_use[2];
  uint32_t max_in_use;  // the larger of in_use
  uint64_t num_octets;  // slots / 8
  uint64_t last_start;  // the last slot at which a row may start
  uint32_t multiplier;  // multiplier of the only chunk
};

/// The prefix part of a block. lib/prefix reads it.
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

struct ProbeOps;

/// An open filter: the address and the layout of its payload. Fields were checked against the size
/// of the block when it was opened, so that probes check nothing.
struct FilterView {
  const ProbeOps* ops;
  const uint8_t* data;  // the first line or segment; any alignment
  union {
    BlockedBloomView blocked_bloom;
    RibbonView ribbon;
  };
  // The parts of the block, for range queries; empty if there are none.
  PrefixView prefixes;
  ByteView ranges;
};

/// The entry points of one kind on one kernel. Hash and probe are one function, so that a probe
/// costs one indirect call.
struct ProbeOps {
  bool (*may_match_key)(const FilterView&, std::string_view key) noexcept;
  bool (*may_match_hash)(const FilterView&, uint64_t hash) noexcept;
  void (*may_match_hashes)(const FilterView&, const uint64_t* hashes, size_t num_hashes,
                           bool* may_match) noexcept;
  /// Returns false only if no key is empty.
  bool (*may_match_keys)(const FilterView&, KeyList keys, size_t num_keys,
                         bool* may_match) noexcept;
};

/// Answers "no" to everything, for the filter of no keys.
extern const ProbeOps kNothingMatches;
/// Answers "may match" to everything, for unreadable blocks.
extern const ProbeOps kEverythingMatches;

}  // namespace blocksieve::internal
