#pragma once

#include <string>

#include "integration/cli/files/file_choice.h"

// Cells of tables for people.

namespace blocksieve::cli {

/// "blocksieve ribbon", "stock Bloom", "none", "unreadable".
std::string FilterName(const FilterReport& filter);

/// A line for each file that another process removed.
std::string VanishedText(const ChosenFiles::Missed& missed);

/// The last part of the path.
std::string ShortName(const FilePlace& place);

/// "-" if it is not known.
std::string LevelText(int level);

/// "9.94"; "-" without a filter.
std::string BitsText(double bits_per_entry);

/// Four digits; "-" for a filter that rules nothing out.
std::string RateText(double rate);

/// "12.3 %", of all; "-" of nothing.
std::string ShareText(uint64_t part, uint64_t all);

}  // namespace blocksieve::cli
