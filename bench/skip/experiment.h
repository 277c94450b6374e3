#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "bench/support/dataset.h"
#include "bench/support/inputs.h"
#include "bench/support/results.h"
#include "bench/support/terminal.h"
#include "blocksieve/granule_index_builder.h"

namespace blocksieve::bench::skip {

/// How much is measured. As it stands, in some minutes.
struct Effort {
  InputLimits limits = {.max_rows = 20'000'000, .max_bytes = uint64_t{2} << 30};
  uint64_t synthetic_rows = 1'000'000;
  size_t queries = 100;        ///< Values that each column is scanned for.
  size_t fpr_queries = 3'000;  ///< The same, where only the false-positive rate is measured.
  std::vector<uint64_t> granule_rows = {32,   kDefaultGranuleRows, 128, 256, 512, 1'024, 2'048,
                                        8'192};
  std::vector<uint64_t> analysed_granules = {100,    300,    1'000,   3'000,
                                             10'000, 30'000, 100'000, 300'000};
  std::vector<uint64_t> analysed_values = {kDefaultGranuleRows, 1'024};  ///< Of each granule.
  uint64_t max_analysed_values = UINT64_MAX;  ///< Of a whole index; building larger ones is slow.
  double analysis_seconds = 0.3;              ///< Per kind of filters and shape.
  unsigned form_rounds = 5;                   ///< Of building each form of filters.
  double form_seconds = 0.3;                  ///< Per kind of query.
  size_t write_columns = 2;                   ///< Of each dataset, the first ones.
  unsigned write_rounds = 9;
  unsigned lookup_rounds = 21;
  size_t lookups = 100'000;  ///< In each round.
};

/// Where databases are made, and how far it is.
struct Place {
  const std::filesystem::path& db_dir;
  Progress& progress;
  uint64_t seed = 1;
};

// The parts. All throw Failure on any error and any wrong answer.

/// Fills a database for every granule size and scans it by each column, compacted and after a fifth
/// of the rows was rewritten.
void MeasureScans(const Dataset& dataset, const Effort& effort, const Place& place,
                  Results& results);

/// Size of the index of one file with all rows, by column that is not clustered (where it is, most
/// of an index are keys, which other columns share) and by granule size, at a target FPR of 1 %.
void MeasureIndexSizes(const Dataset& dataset, const Effort& effort, Results& results);

/// Fills databases with all rows, in random order, flushes and compacts them: with an index of one
/// column, of default options, and with none, by turns.
void MeasureWriteCost(const Dataset& dataset, const Effort& effort, const Place& place,
                      Results& results);

/// What it costs a database to have skip indexes while nobody scans, by where they are: no index,
/// all in the table properties, those in files beside the SSTs for which that is the default.
void MeasureCarriers(const Dataset& dataset, const Effort& effort, const Place& place,
                     Results& results);

/// The form that a column's filters take by themselves, against bit slices: of the dataset's
/// columns, of the 4-grams of its words, and of synthetic numbers.
void MeasureForms(const Dataset& dataset, const Effort& effort, const Place& place,
                  Results& results);

/// All of these, on the input's rows and on synthetic ones. `value_name`: what the first field of
/// the input's values is.
void RunExperiment(const Input& input, std::string_view value_name, const Effort& effort,
                   const Place& place, Results& results);

}  // namespace blocksieve::bench::skip
