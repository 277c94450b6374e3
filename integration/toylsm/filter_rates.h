#pragma once

#include <cstdint>
#include <vector>

#include "integration/toylsm/base/options.h"
#include "integration/toylsm/version.h"

namespace blocksieve::toylsm {

/// Checks the options of filters and of the skip index. Errors: InvalidArgument.
Status CheckFilters(const Options& options);

/// The key filters of new files of `level` with `num_entries` entries, in addition to `runs`. With
/// wasted_reads or bits_per_key, their FPR is the best one for that tree.
KeyFilterOptions KeyFilterFor(const Options& options, const std::vector<Run>& runs,
                              uint64_t num_entries, int level);

}  // namespace blocksieve::toylsm
