#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "integration/cli/advise/advice.h"

namespace blocksieve::cli {

/// Tables and option strings for people. `absent_fraction` is that of the question.
std::string ToText(const Advice& advice, double absent_fraction);

/// All members, by their names.
nlohmann::ordered_json ToJson(const Advice& advice);

/// @{
/// The same for range filters, as parts of the two above. REQUIRES: advice.ranges
std::string RangesText(const Advice& advice);
nlohmann::ordered_json RangesToJson(const Advice& advice);
/// @}

}  // namespace blocksieve::cli
