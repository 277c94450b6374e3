#pragma once

#include <cstdint>
#include <vector>

#include "integration/toylsm/base/options.h"
#include "integration/toylsm/version.h"

namespace blocksieve::toylsm {

/// Checks what options say of filters and of the skip index. Errors: InvalidArgument.
Status CheckFilters(const Options& options);

/// The key filters of files that are about to be written to `level`, with `num_entries` entries,
/// beside `runs`. With wasted_reads or bits_per_key, their rate is the best one for that tree.
KeyFilterOptions KeyFilterFor(const Options& options, const std::vector<Run>& runs,
                              uint64_t num_entries, int level);

}  // namespace blocksieve::toylsm
