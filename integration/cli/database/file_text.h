#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "integration/cli/database/file_choice.h"

// Reports on files, as table cells and as JSON.

namespace blocksieve::cli {

/// "blocksieve ribbon", "stock Bloom", "none", "unreadable", from the member "filter" of a file.
std::string FilterName(const nlohmann::ordered_json& filter);

/// A line for each file that another process removed.
std::string VanishedText(const ChosenFiles::Missed& missed);

/// The last part of the path.
std::string ShortName(const FilePlace& place);

/// The level; null if it is unknown.
nlohmann::ordered_json LevelOrNull(int level);

nlohmann::ordered_json ToJson(const FileReport& file);

/// The first members of a document about files: engine (always "rocksdb") and database or file.
nlohmann::ordered_json DescribeChoice(const FileChoice& choice);

/// Adds the members "unopened" and "vanished".
void AddMissed(const ChosenFiles::Missed& missed, nlohmann::ordered_json* document);

}  // namespace blocksieve::cli
