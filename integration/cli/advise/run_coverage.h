#pragma once

#include <functional>
#include <string_view>

#include "integration/cli/database/sorted_runs.h"

namespace blocksieve::cli {

/// The share of a file's entries, 0 to 1, that are before a key between its first and its last one.
using ShareBefore = std::function<double(const FileReport& file, std::string_view key)>;

/// Estimates by reading a data block for each key. A file that cannot be read has half of its
/// entries before every key.
ShareBefore ShareBeforeInFiles();

/// Finds out which runs of the tree lookups check, by the key ranges of the files. Without effect
/// if the range of a file is not known.
void SetCoverage(const ShareBefore& share_before, RunList* list);

}  // namespace blocksieve::cli
