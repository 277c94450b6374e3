#pragma once

#include <string>
#include <string_view>

namespace blocksieve::testing {

/// The path of a file in the source tree, such as `tests/golden`. A function, because a path
/// compiled into each test would keep another clone from using the compiler cache.
std::string SourcePath(std::string_view path);

}  // namespace blocksieve::testing
