#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/advise/filter_plan.h"
#include "integration/cli/advise/run_coverage.h"
#include "integration/cli/engine/sorted_runs.h"

namespace blocksieve::cli {

struct AdviceQuestion {
  std::optional<uint64_t> memory;                  ///< Bytes of filters, at most.
  std::optional<uint64_t> memory_of_all_families;  ///< Of which `memory` is this one's share.
  std::optional<double> wasted_reads;              ///< Per lookup of an absent key, at most.
  double absent_fraction = 1;                      ///< Of the lookups.
  uint64_t cached_bytes = 0;  ///< Of a block cache that the files may fit into.
};

/// What filters do, or are expected to do.
struct Outlook {
  double wasted_reads_absent = 0;  ///< Per lookup of an absent key.
  double wasted_reads = 0;         ///< Per lookup, be the key absent or not.
  uint64_t filter_bytes = 0;
};

struct Proposal {
  std::string name;  ///< "same memory", "same reads", "one rate", "asked" or "usual".
  FilterPlan plan;
  Outlook outlook;
};

/// For one column family.
struct Advice {
  RunList list;
  RunCoverage coverage;
  Outlook without;  ///< Any filters.
  Outlook today;
  std::vector<Proposal> proposals;
  std::vector<std::string> impossible;  ///< What there is no proposal for, and why.
  std::string no_filter_pays;           ///< Why; empty: filters do.
};

/// Filters pay if they can save at least so many data-block reads per lookup, compared with none,
/// and if the files are of more than AdviceQuestion::cached_bytes: otherwise no lookup reads
/// anything, once they are in the cache.
inline constexpr double kLeastSavedReads = 0.001;

Advice Advise(RunList list, RunCoverage coverage, const AdviceQuestion& question);

}  // namespace blocksieve::cli
