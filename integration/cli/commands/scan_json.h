#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "blocksieve/skip_index_explanation.h"

namespace blocksieve::cli {

/// Sets the member `name` to the bytes, or `name`_hex to their digits if they are not UTF-8.
void SetBytes(nlohmann::ordered_json* object, const std::string& name, std::string_view bytes);

/// One line of JSON with the members of ScanExplanation, by their names.
std::string ExplanationJson(const ScanExplanation& explanation);

}  // namespace blocksieve::cli
