#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "integration/cli/advise/advice.h"
#include "integration/cli/engine/engine.h"

namespace blocksieve::cli {

/// Tables and option strings for people. `absent_fraction` is that of the question.
std::string ToText(const Advice& advice, double absent_fraction, const Engine& engine);

/// All members, by their names.
nlohmann::ordered_json ToJson(const Advice& advice, const Engine& engine);

}  // namespace blocksieve::cli
