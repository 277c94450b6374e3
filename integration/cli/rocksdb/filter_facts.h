#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "integration/cli/engine/table_file.h"

namespace blocksieve::cli {

/// Describes the filters of a table by what they consist of, one or a partition each: stock ones
/// and ours. `num_entries` of the table are keys and prefixes in filters. Sets kind, origin, sizes,
/// rate, note and problems of `report`. REQUIRES: there is a filter, and num_entries > 0.
void DescribeFilters(const std::vector<std::string>& filters, uint64_t num_entries,
                     FilterReport* report);

}  // namespace blocksieve::cli
