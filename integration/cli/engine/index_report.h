#pragma once

#include "blocksieve/granule_index.h"
#include "integration/cli/engine/table_file.h"

namespace blocksieve::cli {

/// What an opened index says of itself; `num_bytes` of the file are its.
IndexReport ReportIndex(const GranuleIndex& index, uint64_t num_bytes);

}  // namespace blocksieve::cli
