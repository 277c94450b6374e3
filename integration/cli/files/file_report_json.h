#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "integration/cli/files/file_choice.h"

namespace blocksieve::cli {

/// All of a report, by the names of its members.
nlohmann::ordered_json ToJson(const FileReport& file);

/// The head of a document about files: the engine, and the database or file that was named.
nlohmann::ordered_json DescribeChoice(const FileChoice& choice, const Engine& engine);

/// Its end: the members "unopened" and "vanished".
void AddMissed(const ChosenFiles::Missed& missed, nlohmann::ordered_json* document);

/// On one line, with a line end. Names of files and columns may be any bytes; JSON must be UTF-8.
std::string JsonLine(const nlohmann::ordered_json& document);

}  // namespace blocksieve::cli
