#pragma once

#include <cstddef>
#include <cstdint>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "lib/block/seal.h"

// Small filters of one chunk have a short footer, version 3 (lib/FORMAT.md is normative):
//
//   payload | fields | 0xB0 + version (1) | checksum (3) | 00 00 00 00 00
//   |<-- the checksum covers these ------>|
//
// As the block is small, one checksum is enough: it is compared whenever the block is opened. The
// byte before the version is never 0xB5, which is the magic byte of other versions in that place.

namespace blocksieve::internal {

/// What follows the fields.
inline constexpr size_t kShortTailBytes = 4 + kZeroTailBytes;

/// The most bytes that a short block has, so that opening takes constant time.
inline constexpr size_t kMaxShortBytes = 4096;

/// Whether the block ends as short ones do, and no other. Nothing says that it is sound.
bool LooksShort(ByteView block) noexcept;

/// Checks size and checksum, and returns payload and fields. REQUIRES: LooksShort(block).
/// Errors: Corruption, NotSupported.
Result<ByteView> ReadShortTail(ByteView block);

/// The kind of all short blocks, which have no byte for it.
inline constexpr FilterKind kShortBlockKind = FilterKind::kRibbon;

/// ReadFooter. REQUIRES: LooksShort(block).
Status ReadShortBlock(ByteView block, FilterInfo* info);

/// Seals a block as Seal does, with a short footer. False, and the block is as it was, if there can
/// be none.
bool SealShort(const FilterInfo& info, const FilterFormat& format, OwnedBytes* block) noexcept;

/// Bytes of the short footer; 0 if there can be none.
uint64_t ShortFooterBytes(const FilterInfo& info, const FilterFormat& format) noexcept;

}  // namespace blocksieve::internal
