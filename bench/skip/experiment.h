#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/dataset.h"
#include "bench/support/inputs.h"
#include "bench/support/job.h"
#include "lib/granule/granule_index.h"

namespace blocksieve::bench::skip {

/// How much is measured. As it stands, in some minutes.
struct Effort {
  uint64_t max_input_bytes = uint64_t{2} << 30;
  uint64_t synthetic_rows = 1'000'000;
  size_t queries = 100;        ///< Values that each column is scanned for.
  size_t fpr_queries = 3'000;  ///< The same, where only the false-positive rate is measured.
  std::vector<uint64_t> granule_rows = {32,   kDefaultGranuleRows, 128, 256, 512, 1'024, 2'048,
                                        8'192};
  std::vector<uint64_t> analysed_granules = {100,    300,    1'000,   3'000,
                                             10'000, 30'000, 100'000, 300'000};
  std::vector<uint64_t> analysed_values = {kDefaultGranuleRows, 1'024};  ///< Of each granule.
  uint64_t max_analysed_values = UINT64_MAX;  ///< Of a whole index; building larger ones is slow.
  double analysis_seconds = 0.3;              ///< Per shape.
  unsigned form_rounds = 5;                   ///< Of building each form of filters.
  size_t write_columns = 2;                   ///< Of each dataset, the first ones.
  unsigned write_rounds = 9;
  unsigned lookup_rounds = 21;
  size_t lookups = 100'000;  ///< In each round.
};

/// For the tables: dataset and column.
inline std::string NameOf(const Dataset& dataset, const QueriedColumn& column) {
  return fmt::format("{}, {}", dataset.name, column.description);
}

// The parts. All throw Failure on any error and any wrong answer.

/// Fills a database for every granule size and scans it by each column, compacted and after a fifth
/// of the rows was rewritten.
void MeasureScans(const Dataset& dataset, const Effort& effort, Job& job);

/// Size of the index of one file with all rows, by column that is not clustered (where it is, most
/// of an index are keys, which other columns share) and by granule size, at a target FPR of 1 %.
void MeasureIndexSizes(const Dataset& dataset, const Effort& effort, Results& results);

/// The form that a column's filters take by themselves, against bit slices: of the dataset's
/// columns, of the 4-grams of its words, and of synthetic numbers.
void MeasureForms(const Dataset& dataset, const Effort& effort, Job& job);

/// Times the analysis of a skip index in memory for one value, at a target FPR of 1 %. New values
/// each time, so that filters come from where they are: caches for few granules, memory for many.
void MeasureAnalysis(uint64_t num_granules, uint64_t distinct_values, double seconds, Job& job);

/// Fills databases with all rows, in random order, flushes and compacts them: with an index of one
/// column, of default options, and with none, by turns.
void MeasureWriteCost(const Dataset& dataset, const Effort& effort, Job& job);

/// What it costs a database to have skip indexes while nobody scans, by where they are: no index,
/// all in the table properties, those in files beside the SSTs for which that is the default.
void MeasureCarriers(const Dataset& dataset, const Effort& effort, Job& job);

/// All of these, on the input's rows and on synthetic ones. `value_name`: what the first field of
/// the input's values is.
void RunExperiment(const Input& input, std::string_view value_name, const Effort& effort, Job& job);

}  // namespace blocksieve::bench::skip
