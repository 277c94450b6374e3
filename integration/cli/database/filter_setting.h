#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>

#include "blocksieve/rate_allocation.h"

// How a database asks blocksieve's policy for filters.

namespace blocksieve::cli {

/// What the options of a column family ask for.
struct RequestedRates {
  RateGoal goal;
  bool kind_is_auto = false;  ///< Flushes build Bloom filters, compactions ribbons.
  std::optional<FilterKind> kind = std::nullopt;  ///< If all files have the same.
};

/// By the name of the column family; families of which nothing is known are missing.
using RequestedRatesByFamily = std::map<std::string, RequestedRates>;

/// One option of the policy and its value.
struct FilterSetting {
  std::string option;  ///< As the policy calls it: "bits_per_key", "wasted_reads", "target_fpr".
  double value = 0;    ///< Rounded so that what was asked for is kept.

  /// REQUIRES: a goal is given.
  static FilterSetting For(const RateGoal& goal) {
    if (goal.wasted_reads) return {"wasted_reads", *goal.wasted_reads};
    if (goal.bits_per_key) return {"bits_per_key", *goal.bits_per_key};
    return {"target_fpr", goal.target_fpr.value()};
  }

  /// "bits_per_key=9.98"
  std::string ToText() const { return fmt::format("{}={}", option, value); }
};

}  // namespace blocksieve::cli
