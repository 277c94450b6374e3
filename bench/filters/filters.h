#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "bench/support/job.h"

namespace blocksieve::bench::filters {

/// Measures, for each kind, the size of filters above the lower bound of all filters, by FPR and
/// number of keys; and one large filter, which is probed for each of its keys. Throws Failure.
void MeasureSizes(Job& job);

}  // namespace blocksieve::bench::filters
