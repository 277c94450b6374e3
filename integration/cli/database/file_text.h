#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "integration/cli/database/file_choice.h"

// Reports on files, as table cells and as JSON.

namespace blocksieve::cli {

/// "blocksieve ribbon", "stock Bloom", "none", "unreadable".
std::string FilterName(const FilterReport& filter);

/// A line for each file that another process removed.
std::string VanishedText(const ChosenFiles::Missed& missed);

/// The last part of the path.
std::string ShortName(const FilePlace& place);

/// "3", or "-" if the level is unknown.
std::string LevelText(int level);

/// Bits per entry: "9.94", or "-" without a filter.
std::string BitsText(uint64_t num_bytes, uint64_t num_entries);

/// Four digits, or "-" for a filter that rules nothing out.
std::string RateText(double rate);

/// "12.3 %", or "-" if `all` is 0.
std::string ShareText(uint64_t part, uint64_t all);

nlohmann::ordered_json ToJson(const FileReport& file);

/// The first members of a document about files: engine (always "rocksdb") and database or file.
nlohmann::ordered_json DescribeChoice(const FileChoice& choice);

/// Adds the members "unopened" and "vanished".
void AddMissed(const ChosenFiles::Missed& missed, nlohmann::ordered_json* document);

}  // namespace blocksieve::cli
