#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "integration/cli/table_file.h"

namespace blocksieve::cli {

/// All of a report, by the names of its members.
nlohmann::ordered_json ToJson(const FileReport& file);

/// On one line, with a line end. Names of files and columns may be any bytes; JSON must be UTF-8.
std::string JsonLine(const nlohmann::ordered_json& document);

}  // namespace blocksieve::cli
