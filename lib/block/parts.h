#pragma once

#include <cstdint>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"

// A block of version 2 is a whole block of version 1, for points, with a part for ranges behind it
// (lib/FORMAT.md is normative):
//
//   filter block | ranges | fields | the tail that every block has (seal.h), its version being 2
//
//   fields: bytes of the filter block (varint), of the ranges (varint), checksum of the ranges (4)

namespace blocksieve::internal {

/// The parts of a block, which has to outlive them.
struct BlockParts {
  ByteView filter;  // all of it, if it is of version 1
  ByteView ranges;  // empty, if it is of version 1
  uint32_t ranges_checksum;
};

/// What follows the parts in a block.
inline constexpr size_t kMaxPartsFooterBytes = 32;

/// Reads and checks the footer of a block of version 2 in constant time; of any other block,
/// nothing is looked at but where the version would be. Errors: Corruption.
Result<BlockParts> SplitBlock(ByteView block);

/// The same, with no ranges if the footer is damaged, and the block itself as its filter.
BlockParts SplitBlockOrNot(ByteView block) noexcept;

/// Compares the checksum of the ranges, in time linear in their size. Errors: Corruption.
Status CheckRanges(const BlockParts& parts);

/// Appends ranges to the filter block that `block` begins with, `filter_bytes` long; they follow it
/// there already. Cuts the block to its size. REQUIRES: kMaxPartsFooterBytes of room behind them
void SealParts(uint64_t filter_bytes, uint64_t range_bytes, OwnedBytes* block) noexcept;

}  // namespace blocksieve::internal
