#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/support/measure.h"
#include "bench/support/results.h"
#include "blocksieve/filter_kind.h"

namespace blocksieve::bench::scale {

/// One filter over many keys, every one of which it was asked for.
struct FilterResult {
  FilterKind kind = FilterKind::kRibbon;
  uint64_t keys = 0;
  double target_fpr = 0;
  double table_fpr = 0;           ///< What the lookup table says of the layout.
  uint64_t table_bytes = 0;       ///< The same, of the payload.
  uint64_t bytes = 0;             ///< Of the whole block.
  uint64_t peak_build_bytes = 0;  ///< Resident at the peak of building, the block included.
  uint64_t probes = 0;            ///< Of absent keys.
  double fpr = 0;
  uint64_t false_negatives = 0;

  // By turn, of which there are few: the largest filters take half a minute each.
  std::array<double, 3> build_ns_per_key = {};  ///< Hashing included.
  std::array<double, 3> absent_ns = {};  ///< Per probe of an absent key, one after the other.

  double bits_per_key() const { return 8 * static_cast<double>(bytes) / static_cast<double>(keys); }
  double bytes_against_table() const {
    return static_cast<double>(bytes) / static_cast<double>(table_bytes);
  }
  double fpr_against_table() const { return fpr / table_fpr; }
};

/// The filters of all files of a tree, built for real, with one way of asking for them.
struct TreeResult {
  std::string asked;  ///< Asking::name
  uint64_t keys = 0;
  uint64_t files = 0;
  uint64_t memory_bytes = 0;
  uint64_t lookups = 0;     ///< Of absent keys.
  double wasted_reads = 0;  ///< Filters per lookup that said "may match".
  uint64_t false_negatives = 0;
};

/// The analysis of the indexes of so many files for one value.
struct AnalysisResult {
  uint64_t files = 0;
  uint64_t granules = 0;  ///< Of all files.
  uint64_t rows = 0;
  uint64_t bytes = 0;           ///< Of all indexes.
  std::vector<double> seconds;  ///< Of one analysis of all of them, by turn.

  double seconds_per_file() const { return Median(seconds) / static_cast<double>(files); }
};

/// All that was measured.
struct Measurements {
  double seconds = 0;
  std::vector<FilterResult> filters;
  std::vector<TreeResult> trees;
  std::vector<AnalysisResult> analyses;

  /// The ribbon with the most keys, and the most files: what the formulas take their constants of.
  const FilterResult& largest_ribbon() const;
  const AnalysisResult& largest_analysis() const { return analyses.back(); }
};

/// Rows of what was measured, and of what is computed from it.
Results ToResults(const Measurements& measured);

}  // namespace blocksieve::bench::scale
