#pragma once

#include <cstdint>
#include <string>

#include "blocksieve/skip_index_summary.h"

namespace blocksieve::cli {

struct LoadCounts {
  uint64_t rows = 0;
  uint64_t bytes = 0;  ///< Of keys and values.
};

/// What was loaded, and how the database is indexed now.
std::string LoadReportText(const LoadCounts& counts, const SkipIndexSummary& indexes);
std::string LoadReportJson(const LoadCounts& counts, const SkipIndexSummary& indexes);

}  // namespace blocksieve::cli
