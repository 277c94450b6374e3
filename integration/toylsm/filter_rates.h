#pragma once

#include <cstdint>
#include <vector>

#include "integration/toylsm/base/options.h"
#include "integration/toylsm/version.h"

namespace blocksieve::toylsm {

/// Checks what options say of key filters.
/// Errors: InvalidArgument
Status CheckKeyFilters(const Options& options);

/// The key filters for files that are about to be written to `level`: `num_entries` entries, among
/// them those of `inputs`, files of `runs` that they replace. With wasted_reads or bits_per_key the
/// rate is the best one for the tree as it will be then.
KeyFilterOptions KeyFilterFor(const Options& options, const std::vector<Run>& runs,
                              const SstFiles& inputs, uint64_t num_entries, int level);

}  // namespace blocksieve::toylsm
