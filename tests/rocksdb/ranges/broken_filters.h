#pragma once

#include "tests/rocksdb/ranges/model_settings.h"

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

/// Filters as ours that never say "no" to a range. What is wrong with them, too, is not theirs: the
/// operations of a run do not depend on its filters.
RangeFilters FiltersThatNeverSayNo();

}  // namespace blocksieve::testing
