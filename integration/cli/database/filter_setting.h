#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>

#include "blocksieve/rocksdb/filter_policy.h"
#include "lib/lsm/rate_allocation.h"

// The goals that databases set for blocksieve's policy.

namespace blocksieve::cli {

/// By column family; families without blocksieve's policy are missing.
using RequestedRatesByFamily = std::map<std::string, FilterPolicyOptions>;

/// The options of a policy that is proposed.
struct FilterSetting {
  std::string option;         ///< "bits_per_key", "wasted_reads" or "target_fpr".
  double value = 0;           ///< Rounded so that the request is still met.
  std::string prefixes = {};  ///< As in FilterPolicyOptions.
  std::optional<double> range_fpr = std::nullopt;  ///< Set: with range filters.

  bool needs_listener() const { return option != "target_fpr"; }
  bool needs_extractor() const { return range_fpr || !prefixes.empty(); }

  /// REQUIRES: `goal` is set.
  static FilterSetting For(const RateGoal& goal) {
    if (goal.wasted_reads) return {.option = "wasted_reads", .value = *goal.wasted_reads};
    if (goal.bits_per_key) return {.option = "bits_per_key", .value = *goal.bits_per_key};
    return {.option = "target_fpr", .value = goal.target_fpr.value()};
  }

  /// "bits_per_key=9.98"
  std::string ToText() const { return fmt::format("{}={}", option, value); }

  /// "prefixes and range filters"; "" without both.
  std::string PartsText() const {
    if (prefixes.empty()) return range_fpr ? "range filters" : "";
    return range_fpr ? "prefixes and range filters" : "prefixes";
  }
};

}  // namespace blocksieve::cli
