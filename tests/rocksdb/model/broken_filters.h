#pragma once

#include "tests/rocksdb/model/model_settings.h"

namespace blocksieve::testing {

/// Rules that keep answers of range filters right.
enum class RangeRule {
  kNone,        // all are kept
  kPairing,     // what was transformed last but one has to be the key that the filter is asked for
  kPartitions,  // a partition says "no" only to ranges that end within it
  kEmptyBegin,  // the key "" is no part of the filter, so ranges that begin there may match
};

/// Filters as ours, but for one rule, by a policy, an extractor and a reader of their own over the
/// core's reader: production code has no switches.
RangeFilters FiltersWithout(RangeRule rule);

}  // namespace blocksieve::testing
