#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace blocksieve::cli {

/// 1234567 as "1,234,567".
std::string WithCommas(uint64_t number);

/// "1 row", "1,234 rows".
std::string CountOf(uint64_t number, std::string_view what);

}  // namespace blocksieve::cli
