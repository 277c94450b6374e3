#pragma once

#include <string>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/skip_index_summary.h"

namespace blocksieve::cli {

/// The columns that new files of a database are to have: the wanted ones, and those that it has
/// already, which compaction would drop otherwise. Of a name that both have, the wanted one.
/// Appends to `*notes` what becomes of the database's own.
std::vector<Column> WithKeptColumns(std::vector<Column> wanted, const SkipIndexSummary& present,
                                    std::vector<std::string>* notes);

}  // namespace blocksieve::cli
