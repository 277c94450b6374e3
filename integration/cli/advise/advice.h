#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/advise/filter_cost.h"
#include "integration/cli/advise/filter_plan.h"
#include "integration/cli/advise/range_advice.h"
#include "integration/cli/database/sorted_runs.h"

namespace blocksieve::cli {

struct AdviceRequest {
  std::optional<uint64_t> memory;                  ///< Bytes of filters, at most.
  std::optional<uint64_t> memory_of_all_families;  ///< `memory` is the share of one of them.
  std::optional<double> wasted_reads;              ///< Per lookup of an absent key, at most.
  double absent_fraction = 1;                      ///< Of the lookups.
  uint64_t cached_bytes = 0;                       ///< The size of the block cache.
  std::optional<SeekWorkload> seeks;               ///< What range filters would save.
};

/// What filters cost and waste, or are expected to.
struct Prediction {
  double wasted_reads_absent = 0;  ///< Per lookup of an absent key.
  double wasted_reads = 0;         ///< Per lookup, whether or not the key is absent.
  uint64_t filter_bytes = 0;
};

struct Proposal {
  std::string name;  ///< "same memory", "same reads", "one rate", "asked" or "usual".
  FilterPlan plan;
  Prediction prediction;
  FilterCost cost;
};

/// Where a gain comes from: today's memory, put to use in two steps. Each is the wasted reads per
/// lookup.
struct GainSteps {
  double current = 0;
  double one_rate = 0;  ///< The filters are blocksieve's, all of one rate.
  double by_level = 0;  ///< And their rates differ by level.
};

/// For one column family.
struct Advice {
  RunList list;
  Prediction without;  ///< Without any filter.
  Prediction current;
  std::vector<Proposal> proposals;
  std::optional<GainSteps> gain_steps;  ///< If there are filters, and others of their memory.
  /// For what there is no proposal, and why. No proposal but that which was asked for wastes more
  /// reads or bytes than the filters do today, if there are some.
  std::vector<std::string> not_proposed;
  std::string no_filter_pays;         ///< Why none does; empty: filters pay.
  std::optional<RangeAdvice> ranges;  ///< If it was asked for, and there are keys.
};

/// Filters pay if they can save at least this many data-block reads per lookup, and if the files
/// are larger than AdviceQuestion::cached_bytes: no lookup reads anything once the cache holds
/// them.
inline constexpr double kMinSavedReads = 0.001;

/// Why filters save no reads once the cache holds all files; "" if it cannot.
std::string WhyCacheIsEnough(const std::vector<SortedRun>& runs, uint64_t cached_bytes);

/// `list` has its coverage: see SetCoverage.
Advice Advise(RunList list, const AdviceRequest& request);

/// What is to be done about the filters of a column family.
struct Verdict {
  std::string text;                ///< A sentence.
  std::optional<size_t> proposal;  ///< Which to change to; nothing: leave it.
};

/// "14 times fewer wasted reads and 31 % less memory": what `after` is compared with `before`.
std::string DifferenceText(const Prediction& before, const Prediction& after);

/// A change has to save this share of the wasted reads or of the memory.
inline constexpr double kMinGain = 0.05;

Verdict VerdictOf(const Advice& advice);

}  // namespace blocksieve::cli
