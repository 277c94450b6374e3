#pragma once

#include <cstdint>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"

// A block of version 2 or 4 is a complete block of version 1 or 3 (the point filter), followed by a
// prefix part (version 4 only) and a range part. lib/FORMAT.md specifies it.

namespace blocksieve {

/// Result of a range query: is there a key in [begin, end)?
enum class RangeAnswer : uint8_t {
  kMayMatch,  ///< There may be a key in the range.
  kNo,        ///< There is no key in the range.
  kBeyond,    ///< No key of this partition is in the range, but later partitions may have one.
};

}  // namespace blocksieve

namespace blocksieve::internal {

/// The parts of a block, which must outlive them.
struct BlockParts {
  ByteView filter;    // the whole block in versions 1 and 3
  ByteView prefixes;  // empty if there are none
  ByteView ranges;    // empty if there are none
  uint32_t checksum;  // covers prefixes and ranges
};

/// Reads and checks the footer of a block of version 2 or 4 in constant time. In any other block,
/// looks only at the position of the version. Errors: Corruption.
Result<BlockParts> SplitBlock(ByteView block);

/// Like SplitBlock, but if the footer is damaged, the whole block is the filter, without parts.
BlockParts SplitBlockIfReadable(ByteView block) noexcept;

/// Compares the checksum of prefixes and ranges, in time linear in their size. Errors: Corruption.
Status CheckParts(const BlockParts& parts);

/// Appends parts to a filter block; does nothing if both are empty. Errors: ResourceExhausted if
/// the block would reach 4 GiB or memory is short; the block is then as it was.
Status AppendParts(std::string_view prefixes, std::string_view ranges, OwnedBytes* block);

}  // namespace blocksieve::internal
