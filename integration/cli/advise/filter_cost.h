#pragma once

#include <map>
#include <utility>

#include "integration/cli/advise/filter_plan.h"

// What filters cost a processor, measured here and now: a few are built and asked in memory, by the
// kernels that this processor is served with.

namespace blocksieve::cli {

struct FilterCost {
  double build_ns_per_key = 0;  ///< Of CPU time: hashing the key, and its part of the filter.
  double probe_ns = 0;          ///< To ask one filter for an absent key, the filter being cached.
};

/// By kind and rate.
using KnownCosts = std::map<std::pair<FilterKind, double>, FilterCost>;

/// Of the filters of a plan: building weighs levels by their keys, asking by their shares of the
/// lookups. 0 for no filter. Takes some ten milliseconds for each kind and rate that is not known
/// yet.
FilterCost CostOf(const FilterPlan& plan, const RunList& list, KnownCosts* known);

}  // namespace blocksieve::cli
