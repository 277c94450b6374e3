#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "integration/cli/database/sorted_runs.h"

// The savings of range filters, estimated by building some from the keys of the database.

namespace blocksieve::cli {

struct SeekWorkload {
  double fraction = 0;  ///< Share of reads that are seeks with an upper bound; others are lookups.
  double range_width = 0;  ///< Mean number of keys between a seek key and its upper bound.
};

/// The range filters of a sorted run. FPRs are shares of short empty ranges that pass.
struct RunRanges {
  double current_fpr = 1;    ///< Of the current filters; 1 without range filters.
  double estimated_fpr = 1;  ///< As the filters of the sample estimate it; 1 without a sample.
  double fpr = 1;            ///< The same, with 1 for filters that would not be written.
  uint64_t num_bytes = 0;    ///< Filters that would be written, for all keys of the run.
  uint64_t sampled_files = 0;
  uint64_t sampled_keys = 0;
};

struct RangeAdvice {
  SeekWorkload seeks;
  double range_fpr = 0;  ///< The option range_fpr of the proposal.
  std::vector<RunRanges> runs;
  uint64_t num_bytes = 0;  ///< Sum over all runs.

  /// Share of seeks that find nothing; only they are predicted to gain. exp(-range_width), assuming
  /// that keys are spread at random.
  double empty_share = 1;

  /// Data blocks that such a seek reads: one of each run that covers its key and is not ruled out.
  double current_blocks = 0;
  double blocks = 0;

  /// Wasted data block reads per read of any kind.
  double current_wasted_reads = 0;
  double wasted_reads = 0;

  std::string do_not_pay;  ///< The reason, or empty if range filters pay.
};

/// Limits of the sample: files per run, keys per file.
inline constexpr size_t kSampledFiles = 3;
inline constexpr uint64_t kSampledKeys = 1 << 20;

/// Visits the keys of a file in order. Throws Failure if it cannot be read.
using KeysOfFile =
    std::function<void(const FileReport&, const std::function<void(std::string_view)>&)>;

/// `wasted_per_lookup`: with current filters. `nothing_pays`: why no kind of filter pays, or "".
RangeAdvice AdviseRanges(const RunList& list, const SeekWorkload& seeks, double wasted_per_lookup,
                         const std::string& nothing_pays, const KeysOfFile& keys_of_file);

}  // namespace blocksieve::cli
