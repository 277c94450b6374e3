#pragma once

#include <map>
#include <utility>

#include "integration/cli/advise/filter_plan.h"

// CPU cost of filters, measured by building and probing a few in memory with the active kernel.

namespace blocksieve::cli {

struct FilterCost {
  double build_ns_per_key = 0;  ///< CPU time to hash a key and build its part of the filter.
  double probe_ns = 0;          ///< To probe one filter, in the CPU cache, for an absent key.
};

/// Measured costs by kind and rate.
using KnownCosts = std::map<std::pair<FilterKind, double>, FilterCost>;

/// Mean cost of the filters of a plan, weighted by keys for building and by lookup share for
/// probing. 0 without filters. Takes tens of milliseconds for each kind and rate not in `known`.
FilterCost CostOf(const FilterPlan& plan, const RunList& list, KnownCosts* known);

}  // namespace blocksieve::cli
