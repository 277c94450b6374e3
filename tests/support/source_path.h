#pragma once

#include <string>
#include <string_view>

namespace blocksieve::testing {

/// Where a file of the source tree is, such as `tests/golden`. A function, because a path that each
/// test is compiled with keeps it from coming out of the compiler cache of another clone.
std::string SourcePath(std::string_view path);

}  // namespace blocksieve::testing
