#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "blocksieve/hash.h"
#include "lib/base/kernels.h"
#include "lib/hash/key_list.h"

// How a probe finds its way through the payload of a filter.

namespace blocksieve::internal {

/// What kernels that test whole registers of positions read. A register of ones costs two
/// instructions to make.
struct PatternRow {
  uint32_t factors[16];  // those behind the number of probes are copies of the first
  uint32_t ones[16];
};

struct BlockedBloomView {
  uint64_t num_lines;         // >= 1
  uint32_t num_probes;        // 1 .. 16
  const PatternRow* pattern;  // of so many probes
};

/// Classic and counting filters.
struct ClassicBloomView {
  uint64_t num_cells;   // bits or counters, >= 1
  uint32_t num_probes;  // 1 .. 32
  uint32_t cell_bits;   // of a counter; 1 in classic filters
};

struct RibbonView {
  const uint8_t* directory;  // entries of the chunks; unused if there is one chunk only
  const uint8_t* bases;      // of groups of chunks
  uint64_t num_chunks;       // >= 1
  uint64_t fast_segments;    // from here on a window may reach the end: probed word by word
  uint64_t narrow_segments;  // the others are wide: they have one more column
  // Of narrow segments (or of all, if they are alike) and of wide ones: segment i begins at address
  // origin + i * stride, and has as many columns as bits are in use.
  uintptr_t origin[2];
  uint64_t stride[2];
  uint32_t in_use[2];
  uint32_t most_in_use;  // the larger of in_use
  uint64_t num_octets;   // slots / 8
  uint64_t last_start;   // no row starts behind this slot
  uint32_t multiplier;   // of the one chunk
};

/// A filter that has been opened: where its payload is and how it is laid out. Its fields have been
/// checked against the size of the block, so that probes check nothing.
struct FilterView {
  const uint8_t* data;  // the first line or segment; any alignment
  uint64_t hash_seed;
  uint64_t first_hash_flip;  // what the hash makes of the seed
  uint64_t last_hash_flip;
  union {
    BlockedBloomView blocked_bloom;
    ClassicBloomView classic_bloom;
    RibbonView ribbon;
  };
};

/// The entry points of one kind on one kernel. Hash and probe are one function, so that a probe
/// costs one indirect call.
struct ProbeOps {
  bool (*may_match_key)(const FilterView&, std::string_view key) noexcept;
  bool (*may_match_hash)(const FilterView&, uint64_t hash) noexcept;
  void (*may_match_hashes)(const FilterView&, const uint64_t* hashes, size_t num_hashes,
                           bool* may_match) noexcept;
  /// False: none of the keys is empty.
  bool (*may_match_keys)(const FilterView&, KeyList keys, size_t num_keys,
                         bool* may_match) noexcept;
};

/// Answers "no" to everything: the filter of no keys.
extern const ProbeOps kNothingMatches;
/// Answers "may match" to everything: whatever cannot be read.
extern const ProbeOps kEverythingMatches;

}  // namespace blocksieve::internal
