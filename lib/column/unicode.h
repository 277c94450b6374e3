#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Separators of words and letters without case, by Unicode 14.0, which is part of the byte format.

namespace blocksieve::internal {

/// By the first byte, the size of a separator of words: 0 for none, as before a letter, 1 in ASCII,
/// and 2 if LongSeparatorBytes has to say, which few scripts need.
extern const uint8_t kSeparatorBytes[256];

/// Size of the separator beyond ASCII at the beginning of `text`; 0 if there is none, as for
/// invalid UTF-8. REQUIRES: not empty
size_t LongSeparatorBytes(std::string_view text) noexcept;

/// Replaces `folded` by the text without differences of case, by simple case folding: each
/// character becomes one, which is itself if folded again. Invalid UTF-8 remains unchanged.
void Fold(std::string_view text, std::string* folded);

}  // namespace blocksieve::internal
