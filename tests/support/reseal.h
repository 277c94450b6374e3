#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>

#include "blocksieve/bytes.h"
#include "lib/skip/format.h"

// Checksums find random damage, so code after them never sees it. These functions make the
// checksums right for damaged bytes, as an attacker would.

namespace blocksieve::testing {

/// A filter block with right checksums, of the payload too if its length is the one in the footer,
/// and of the parts of a block of version 2. Nothing if it is too short for a footer.
std::optional<std::string> ResealFilterBlock(ByteView block);

/// A skip index with right checksums. Nothing if its header is unreadable, or its parts do not
/// have the lengths in the header.
std::optional<std::string> ResealSkipIndex(ByteView index);

/// A skip index with this header, with its checksums replaced, and these parts.
std::string SealSkipIndex(internal::SkipIndexHeader header, ByteView parts);

}  // namespace blocksieve::testing
