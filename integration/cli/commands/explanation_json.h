#pragma once

#include <string>

#include "blocksieve/rocksdb/skip_scan.h"

namespace blocksieve::cli {

/// One line of JSON with the members of ScanExplanation, by their names.
std::string ExplanationJson(const ScanExplanation& explanation);

}  // namespace blocksieve::cli
