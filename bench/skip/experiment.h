#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "bench/skip/results.h"
#include "bench/support/inputs.h"
#include "bench/support/terminal.h"
#include "blocksieve/granule_index_builder.h"

namespace blocksieve::bench::skip {

/// Of an index that is analysed in memory.
struct IndexShape {
  uint64_t granules = 0;
  uint64_t distinct_values = 0;  ///< In each granule.
};

/// How much is measured. As it stands, in some minutes.
struct Effort {
  InputLimits limits = {.max_rows = 20'000'000, .max_bytes = uint64_t{2} << 30};
  uint64_t synthetic_rows = 1'000'000;
  size_t queries = 100;        ///< Values that each column is asked for.
  size_t fpr_queries = 3'000;  ///< The same, where nothing but the false-positive rate is measured.
  std::vector<uint64_t> granule_rows = {32,   kDefaultGranuleRows, 128, 256, 512, 1'024, 2'048,
                                        8'192};
  std::vector<IndexShape> analyses = {
      {100, kDefaultGranuleRows},     {100, 1'024},
      {300, kDefaultGranuleRows},     {300, 1'024},
      {1'000, kDefaultGranuleRows},   {1'000, 1'024},
      {3'000, kDefaultGranuleRows},   {3'000, 1'024},
      {10'000, kDefaultGranuleRows},  {10'000, 1'024},
      {30'000, kDefaultGranuleRows},  {30'000, 1'024},
      {100'000, kDefaultGranuleRows}, {100'000, 1'024},
      {300'000, kDefaultGranuleRows}, {300'000, 1'024},
  };
  double analysis_seconds = 0.3;  ///< Per kind of filters and shape.
  unsigned form_rounds = 5;       ///< Of building each form of filters.
  double form_seconds = 0.3;      ///< Per kind of question.
  size_t write_columns = 2;       ///< Of each dataset, the first ones.
  unsigned write_rounds = 9;
  unsigned lookup_rounds = 21;
  size_t lookups = 100'000;  ///< In each round.

  /// Within a minute.
  static Effort Quick() {
    Effort effort;
    effort.limits = {.max_rows = 200'000, .max_bytes = 32 << 20};
    effort.synthetic_rows = 256'000;
    effort.queries = 20;
    effort.fpr_queries = 1'500;
    effort.granule_rows = {kDefaultGranuleRows, 1'024};
    // Building an index of 300,000 larger granules would take too long.
    effort.analyses = {
        {1'000, kDefaultGranuleRows}, {1'000, 1'024}, {300'000, kDefaultGranuleRows}};
    effort.analysis_seconds = 0.1;
    effort.form_rounds = 3;
    effort.form_seconds = 0.05;
    effort.write_columns = 1;
    effort.write_rounds = 5;
    effort.lookup_rounds = 9;
    effort.lookups = 20'000;
    return effort;
  }
};

/// Measures everything, on the input's rows and on synthetic ones. `value_name`: what the first
/// field of the input's values is. Throws Failure on any error and any wrong answer.
Results RunExperiment(const Input& input, std::string_view value_name, const Effort& effort,
                      uint64_t seed, const std::filesystem::path& db_dir, Progress& progress);

}  // namespace blocksieve::bench::skip
