#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/coding.h"

// Text-like parts of a granule index (keys, bounds) go through zstd where that makes them smaller.
// For paths it halves what prefix compression leaves (45 to 22 bytes per granule of 128 rows), and
// without it such granules would miss the target of 12 bits per value. Filters are incompressible.

namespace blocksieve::internal {

/// Appends: size of `raw` (varint) | size as stored (varint) | stored bytes: zstd's frame, or `raw`
/// itself if the sizes are equal.
void AppendCompressed(std::string_view raw, std::string* out);

/// Takes that off the decoder's front. Returns the raw bytes, in `memory` if they had to be
/// expanded, else in place. What is damaged shows in `from->ok()`.
ByteView ReadCompressed(Decoder* from, std::vector<uint8_t>* memory);

}  // namespace blocksieve::internal
