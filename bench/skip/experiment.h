#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/skip/dataset.h"
#include "bench/support/inputs.h"
#include "bench/support/job.h"
#include "lib/granule/granule_index.h"

namespace blocksieve::bench::skip {

/// Amount of measuring. The defaults take some minutes.
struct Effort {
  uint64_t max_input_bytes = uint64_t{2} << 30;
  uint64_t synthetic_rows = 1'000'000;
  size_t queries = 100;        ///< Scans of each column, each for one value.
  size_t fpr_queries = 3'000;  ///< The same for measuring the FPR only.
  std::vector<uint64_t> granule_rows = {32,   kDefaultGranuleRows, 128, 256, 512, 1'024, 2'048,
                                        8'192};
  std::vector<uint64_t> analysed_granules = {100,    300,    1'000,   3'000,
                                             10'000, 30'000, 100'000, 300'000};
  std::vector<uint64_t> analysed_values = {kDefaultGranuleRows, 1'024};  ///< Per granule.
  uint64_t max_analysed_values = UINT64_MAX;  ///< Per index: building larger ones is slow.
  double analysis_seconds = 0.3;              ///< Per shape.
  size_t write_columns = 2;                   ///< The first columns of each dataset.
  unsigned write_rounds = 9;
};

/// The name in tables: dataset and column.
inline std::string NameOf(const Dataset& dataset, const QueriedColumn& column) {
  return fmt::format("{}, {}", dataset.name, column.description);
}

// The parts of the benchmark. All throw Failure on any error and any wrong answer.

/// Fills a database for every granule size and scans it by each column, after compaction and after
/// a fifth of the rows was rewritten.
void MeasureScans(const Dataset& dataset, const Effort& effort, Job& job);

/// Measures the index size of one file with all rows, by column and granule size, at a target FPR
/// of 1 %. Columns are not clustered: an index of a clustered one is mostly keys, which columns
/// share.
void MeasureIndexSizes(const Dataset& dataset, const Effort& effort, Results& results);

/// Times the analysis of a skip index in memory for one value, at a target FPR of 1 %. Each time
/// for another value, so that filters come from processor caches only if the index fits in them.
void MeasureAnalysis(uint64_t num_granules, uint64_t distinct_values, double seconds, Job& job);

/// Runs all parts, and fills databases with and without an index, on the input's and on synthetic
/// rows. `value_name`: the values' first field.
void RunExperiment(const Input& input, std::string_view value_name, const Effort& effort, Job& job);

}  // namespace blocksieve::bench::skip
