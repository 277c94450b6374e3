#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace blocksieve::cli {

/// Shows where in `text` byte `position`, counted from 1, is: two lines, of which the second has a
/// caret below it. Of long texts, what is around.
std::string PointAt(std::string_view text, size_t position);

}  // namespace blocksieve::cli
