#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>

#include "blocksieve/rate_allocation.h"

// The goals that databases set for blocksieve's policy.

namespace blocksieve::cli {

/// The filters requested by the options of a column family.
struct RequestedRates {
  RateGoal goal;
  bool kind_is_auto = false;  ///< Flushes build Bloom filters, compactions ribbons.
  std::optional<FilterKind> kind = std::nullopt;  ///< Set if all files have the same kind.
  bool ranges = false;                            ///< As in FilterPolicyOptions.
  std::string prefixes = {};                      ///< As in FilterPolicyOptions.
};

/// By column family; families without blocksieve's policy are missing.
using RequestedRatesByFamily = std::map<std::string, RequestedRates>;

/// One option of the policy and its value.
struct FilterSetting {
  std::string option;  ///< "bits_per_key", "wasted_reads" or "target_fpr".
  double value = 0;    ///< Rounded so that the request is still met.

  /// REQUIRES: `goal` is set.
  static FilterSetting For(const RateGoal& goal) {
    if (goal.wasted_reads) return {"wasted_reads", *goal.wasted_reads};
    if (goal.bits_per_key) return {"bits_per_key", *goal.bits_per_key};
    return {"target_fpr", goal.target_fpr.value()};
  }

  /// "bits_per_key=9.98"
  std::string ToText() const { return fmt::format("{}={}", option, value); }
};

}  // namespace blocksieve::cli
