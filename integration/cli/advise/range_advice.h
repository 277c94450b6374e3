#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "integration/cli/database/sorted_runs.h"

// What filters that answer for ranges would save, estimated by building some from the keys of the
// database.

namespace blocksieve::cli {

struct SeekWorkload {
  double fraction = 0;     ///< Of all reads: seeks with an upper bound. The others are lookups.
  double range_width = 0;  ///< Keys between the key of a seek and its bound, on average.
};

/// Of a sorted run. Rates are shares of short ranges without keys that pass.
struct RunRanges {
  double current_fpr = 1;    ///< Of its present filters; 1 for those of points only.
  double estimated_fpr = 1;  ///< As the filters of the sample see themselves; 1 without a sample.
  double fpr = 1;            ///< 1 is counted for filters that would not be written.
  uint64_t num_bytes = 0;    ///< Of the filters that would be written, for all of its keys.
  uint64_t sampled_files = 0;
  uint64_t sampled_keys = 0;
};

struct RangeAdvice {
  SeekWorkload seeks;
  double range_fpr = 0;  ///< The option that it is about.
  std::vector<RunRanges> runs;
  uint64_t num_bytes = 0;  ///< Of all runs.

  /// Of the seeks, those that find nothing; only they are expected to gain. exp(-range_width): keys
  /// are taken to lie in ranges by chance.
  double empty_share = 1;

  /// Data blocks that such a seek reads: one of each run that covers its key, unless a filter says
  /// no.
  double current_blocks = 0;
  double blocks = 0;

  /// Data blocks read in vain per read of any kind.
  double current_wasted_reads = 0;
  double wasted_reads = 0;

  std::string do_not_pay;  ///< Why range filters do not; empty: they do.
};

/// Of each run up to so many files are read, and of each file up to so many keys built into
/// filters.
inline constexpr size_t kSampledFiles = 3;
inline constexpr uint64_t kSampledKeys = 1 << 20;

/// Visits the keys of a file in its order. Throws Failure if it cannot be read.
using KeysOfFile =
    std::function<void(const FileReport&, const std::function<void(std::string_view)>&)>;

/// `wasted_per_lookup`: by present filters. `nothing_pays`: why no filter of any kind does, or "".
RangeAdvice AdviseRanges(const RunList& list, const SeekWorkload& seeks, double wasted_per_lookup,
                         const std::string& nothing_pays, const KeysOfFile& keys_of_file);

}  // namespace blocksieve::cli
