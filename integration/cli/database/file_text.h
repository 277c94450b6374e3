#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "integration/cli/database/file_choice.h"

// Reports on files: as cells of tables for people, as JSON for machines.

namespace blocksieve::cli {

/// "blocksieve ribbon", "stock Bloom", "none", "unreadable".
std::string FilterName(const FilterReport& filter);

/// A line for each file that another process removed.
std::string VanishedText(const ChosenFiles::Missed& missed);

/// The last part of the path.
std::string ShortName(const FilePlace& place);

/// "3"; "-" if the level is not known.
std::string LevelText(int level);

/// Bits per entry, "9.94"; "-" without a filter.
std::string BitsText(uint64_t num_bytes, uint64_t num_entries);

/// Four digits; "-" for a filter that rules nothing out.
std::string RateText(double rate);

/// "12.3 %"; "-" if `all` is 0.
std::string ShareText(uint64_t part, uint64_t all);

/// All members of a report, by their names.
nlohmann::ordered_json ToJson(const FileReport& file);

/// The head of a document about files: the engine, which is always "rocksdb", and the database or
/// file that was named.
nlohmann::ordered_json DescribeChoice(const FileChoice& choice);

/// Its end: the members "unopened" and "vanished".
void AddMissed(const ChosenFiles::Missed& missed, nlohmann::ordered_json* document);

}  // namespace blocksieve::cli
