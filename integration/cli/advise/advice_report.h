#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "integration/cli/advise/advice.h"

namespace blocksieve::cli {

/// Tables and option strings. `absent_fraction` as in the request.
std::string ToText(const Advice& advice, double absent_fraction);

nlohmann::ordered_json ToJson(const Advice& advice);

/// @{
/// The parts about range filters in the two above. REQUIRES: advice.ranges
std::string RangesText(const Advice& advice);
nlohmann::ordered_json RangesToJson(const Advice& advice);
/// @}

}  // namespace blocksieve::cli
