#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "integration/cli/database/table/file_report.h"
#include "integration/cli/database/table/opened_table.h"

namespace blocksieve::cli {

/// What can be said of a table without reading its data. Throws Failure.
FileReport ReportTable(const FilePlace& place, uint64_t num_bytes, OpenedTable* table);

/// Describes the filters of a table by what they consist of, one or a partition each: stock ones
/// and ours. `num_entries` of the table are keys and prefixes in filters. Sets kind, origin, sizes,
/// rate, note and problems of `report`. REQUIRES: there is a filter, and num_entries > 0.
void DescribeFilters(const std::vector<std::string>& filters, uint64_t num_entries,
                     FilterReport* report);

}  // namespace blocksieve::cli
