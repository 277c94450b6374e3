#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "integration/cli/advise/advice.h"
#include "integration/cli/engine/engine.h"

namespace blocksieve::cli {

// REQUIRES: advice.ranges

/// A table, sentences and option strings for people.
std::string RangesText(const Advice& advice, const Engine& engine);

/// All members, by their names.
nlohmann::ordered_json RangesToJson(const Advice& advice, const Engine& engine);

}  // namespace blocksieve::cli
