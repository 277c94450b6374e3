#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "integration/cli/database/table/file_report.h"
#include "integration/cli/database/table/opened_table.h"

namespace blocksieve::cli {

/// Describes a table without reading its data blocks. Throws Failure.
FileReport ReportTable(const FilePlace& place, uint64_t num_bytes, OpenedTable* table);

/// Describes the filters of a table, stock ones and ours, from their bytes: one, or one per
/// partition. `num_entries` are the keys and prefixes in all filters. Sets kind, origin, sizes,
/// rate, note and problems of `report`. REQUIRES: there is a filter, and num_entries > 0.
void DescribeFilters(const std::vector<std::string>& filters, uint64_t num_entries,
                     FilterReport* report);

}  // namespace blocksieve::cli
