#pragma once

#include <nlohmann/json.hpp>

#include "integration/cli/advise/advice.h"
#include "integration/cli/engine/engine.h"

namespace blocksieve::cli {

/// All of it, by the names of its members.
nlohmann::ordered_json ToJson(const Advice& advice, const Engine& engine);

}  // namespace blocksieve::cli
