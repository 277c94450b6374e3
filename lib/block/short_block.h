#pragma once

#include <cstddef>
#include <cstdint>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "lib/block/seal.h"

// Small ribbons of one chunk have a short footer, version 3, which lib/FORMAT.md specifies.
//
// The block is small enough to compare one checksum of all its bytes whenever it is opened. The
// byte before the version is never 0xB5, the magic byte that other versions have in this place.

namespace blocksieve::internal {

/// Bytes after the fields.
inline constexpr size_t kShortTailBytes = 4 + kZeroTailBytes;

/// Maximum size of a short block, so that opening takes constant time.
inline constexpr size_t kMaxShortBytes = 4096;

/// Whether the block ends like a short block and like no other. It may still be damaged.
bool LooksShort(ByteView block) noexcept;

/// Checks size and checksum; returns payload and fields. REQUIRES: LooksShort(block).
/// Errors: Corruption, NotSupported.
Result<ByteView> ReadShortTail(ByteView block);

/// The kind of all short blocks; they do not store it.
inline constexpr FilterKind kShortBlockKind = FilterKind::kRibbon;

/// ReadFooter of a short block. REQUIRES: LooksShort(block).
Status ReadShortBlock(ByteView block, FilterInfo* info);

/// Seals a block with a short footer. False, without a change, if the block cannot have one.
bool SealShort(const FilterInfo& info, const FilterFormat& format, OwnedBytes* block) noexcept;

/// Size of the short footer in bytes; 0 if the block cannot have one.
uint64_t ShortFooterBytes(const FilterInfo& info, const FilterFormat& format) noexcept;

}  // namespace blocksieve::internal
