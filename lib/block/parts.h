#pragma once

#include <cstdint>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"

// A version-2 block is a complete version-1 block (the point filter) followed by a range part.
// lib/FORMAT.md is normative.
//
//   filter block | ranges | fields | the tail of every block (seal.h), with version 2
//
//   fields: size of the filter block (varint), size of the ranges (varint), checksum of the ranges
//   (4 bytes)

namespace blocksieve::internal {

/// The parts of a block, which must outlive them.
struct BlockParts {
  ByteView filter;  // the whole block in version 1
  ByteView ranges;  // empty in version 1
  uint32_t ranges_checksum;
};

/// Maximum size of the fields and the tail together.
inline constexpr size_t kMaxPartsFooterBytes = 32;

/// Reads and checks the footer of a version-2 block in constant time. In any other block, looks
/// only at the position of the version. Errors: Corruption.
Result<BlockParts> SplitBlock(ByteView block);

/// Like SplitBlock, but if the footer is damaged, the whole block is the filter, without ranges.
BlockParts SplitBlockIfReadable(ByteView block) noexcept;

/// Compares the checksum of the ranges, in time linear in their size. Errors: Corruption.
Status CheckRanges(const BlockParts& parts);

/// Appends the footer to a block that holds a filter block of `filter_bytes`, then ranges of
/// `range_bytes`; cuts the block to its size. REQUIRES: kMaxPartsFooterBytes of room after them
void SealParts(uint64_t filter_bytes, uint64_t range_bytes, OwnedBytes* block) noexcept;

}  // namespace blocksieve::internal
