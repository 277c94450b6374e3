#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/filter_plan.h"
#include "integration/cli/sorted_runs.h"

namespace blocksieve::cli {

struct AdviceQuestion {
  std::optional<uint64_t> memory;      ///< Bytes of filters, at most.
  std::optional<double> wasted_reads;  ///< Per lookup of an absent key, at most.
  double absent_fraction = 1;          ///< Of the lookups.
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
  Outlook without;  ///< Any filters.
  Outlook today;
  std::vector<Proposal> proposals;
  std::vector<std::string> impossible;  ///< What there is no proposal for, and why.
  std::string no_filter_pays;           ///< Why; empty: filters do.
};

/// Filters pay if they can save at least so many data-block reads per lookup, compared with none,
inline constexpr double kLeastSavedReads = 0.001;
/// and if the files do not fit into RocksDB's block cache as it is by default (8 MiB in version 7):
/// then no lookup reads anything, once they are in.
inline constexpr uint64_t kCachedBytes = 8 << 20;

Advice Advise(RunList list, const AdviceQuestion& question);

}  // namespace blocksieve::cli
