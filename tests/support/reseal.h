#pragma once

#include <optional>
#include <string>

#include "blocksieve/bytes.h"

// Random damage is found by checksums, and what is behind them never sees it. These make the
// checksums right for the bytes as they are, as someone would who wants to do harm.

namespace blocksieve::testing {

/// A filter block; nothing if it is too short to have a footer.
std::optional<std::string> ResealFilterBlock(ByteView block);

/// A granule index; nothing if its header cannot be read at all, or its parts are not as long as it
/// says.
std::optional<std::string> ResealGranuleIndex(ByteView index);

}  // namespace blocksieve::testing
