#pragma once

#include <optional>
#include <string>

#include "blocksieve/bytes.h"
#include "lib/granule/format.h"

// Random damage is found by checksums, and what is behind them never sees it. These make the
// checksums right for the bytes as they are, as someone would who wants to do harm.

namespace blocksieve::testing {

/// A filter block; nothing if it is too short to have a footer. The checksum of the payload is made
/// right, too, unless the footer says that there is more or less of it. So are those of the parts
/// of a block of version 2.
std::optional<std::string> ResealFilterBlock(ByteView block);

/// A granule index; nothing if its header cannot be read at all, or its parts are not as long as it
/// says.
std::optional<std::string> ResealGranuleIndex(ByteView index);

/// A granule index of this header, with other checksums, and these parts.
std::string SealGranuleIndex(internal::GranuleIndexHeader header, ByteView parts);

}  // namespace blocksieve::testing
