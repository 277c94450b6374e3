#pragma once

#include <vector>

#include "blocksieve/column.h"
#include "integration/toylsm/sst_reader.h"

namespace blocksieve::toylsm {

/// Reads all of a file: order, checksums, and that neither its filters nor its skip index deny
/// what is there. `columns`: of the skip index. Errors: Corruption, with the first thing wrong.
Status VerifyFile(const SstReader& file, const std::vector<Column>& columns,
                  const ReadContext& context);

}  // namespace blocksieve::toylsm
