#pragma once

#include <cstdint>

#include "tests/rocksdb/ranges/model_report.h"
#include "tests/rocksdb/ranges/model_settings.h"

namespace blocksieve::testing {

/// Random operations on a database in a directory of its own, compared with a map, until there were
/// so many or something is wrong. Adds to the report.
void RunModel(const ModelKind& kind, uint64_t seed, uint64_t operations, ModelReport* report);

}  // namespace blocksieve::testing
