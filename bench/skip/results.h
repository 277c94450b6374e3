#pragma once

#include <cassert>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace blocksieve::bench::skip {

/// Equality scans over one column of one dataset, summed over queries of different values. Blocks
/// are data blocks, counted by RocksDB, read with nothing cached.
struct ScanResult {
  std::string dataset;
  std::string column;  ///< QueriedColumn::description
  bool clustered = false;
  bool rewritten = false;  ///< A fifth of the rows was written anew into levels 0 and 1.
  uint64_t granule_rows = 0;
  double target_fpr = 0;

  uint64_t queries = 0;
  uint64_t rows = 0;              ///< Returned; each answer was compared with the expected one.
  uint64_t data_blocks_read = 0;  ///< Read.
  uint64_t oracle_blocks = 0;     ///< Different blocks that hold a row of the answer.
  uint64_t granule_blocks = 0;  ///< Different blocks of the granules that hold a row of the answer.
  uint64_t rows_rechecked = 0;
  uint64_t turned_into_full_scans = 0;  ///< Of the queries, those that the scan itself made one.
  std::vector<double> query_seconds;    ///< By query.

  uint64_t full_scan_blocks = 0;          ///< Read by one full scan.
  std::vector<double> full_scan_seconds;  ///< By turn.

  uint64_t granules = 0;           ///< Of the database.
  uint64_t granules_selected = 0;  ///< To be read.
  uint64_t granules_matching = 0;  ///< That hold a row of the answer.

  double data_blocks_per_query() const { return Mean(data_blocks_read); }
  double oracle_blocks_per_query() const { return Mean(oracle_blocks); }
  double granule_blocks_per_query() const { return Mean(granule_blocks); }
  double against_oracle() const {
    return static_cast<double>(data_blocks_read) / static_cast<double>(oracle_blocks);
  }
  double against_full_scan() const {
    return data_blocks_per_query() / static_cast<double>(full_scan_blocks);
  }
  /// Granules read in vain, against what the target FPR allows. REQUIRES: !rewritten
  double against_target_fpr() const {
    assert(!rewritten);
    const auto without_match = static_cast<double>(queries * granules - granules_matching);
    return static_cast<double>(granules_selected - granules_matching) /
           (target_fpr * without_match);
  }

 private:
  double Mean(uint64_t sum) const {
    return static_cast<double>(sum) / static_cast<double>(queries);
  }
};

/// Analysis of an index for any of so many values. Times are by turn.
struct InListResult {
  uint64_t values = 0;
  std::vector<double> nanoseconds;             ///< All at once.
  std::vector<double> one_by_one_nanoseconds;  ///< Each value, and then what any of them has.
};

/// Analysis of an index in memory for one equality, against the same filters asked one by one.
/// Times are by turn.
struct AnalysisResult {
  uint64_t granules = 0;
  uint64_t distinct_values = 0;  ///< In each granule.
  std::vector<double> nanoseconds;
  std::vector<double> separate_nanoseconds;
  uint64_t probe_bytes = 0;           ///< That our analysis touches.
  uint64_t separate_bytes = 0;        ///< Of all filters one after the other.
  std::vector<double> build_seconds;  ///< Of the whole index.
  std::vector<double> open_seconds;
  std::vector<InListResult> in_lists;  ///< Of small indexes.
};

/// What an index of one column takes.
struct IndexSizeResult {
  std::string dataset;
  std::string column;
  uint64_t granule_rows = 0;
  double target_fpr = 0;
  uint64_t distinct_values = 0;  ///< Distinct within their granule, summed over granules.
  uint64_t granules = 0;
  uint64_t bytes = 0;  ///< All of the index, of which:
  uint64_t filter_bytes = 0;
  uint64_t bounds_bytes = 0;
  uint64_t key_bytes = 0;

  double bits_per_value() const {
    return 8 * static_cast<double>(bytes) / static_cast<double>(distinct_values);
  }
};

/// Analysis for one kind of question. Times are by turn.
struct FormTimes {
  std::string question;
  std::vector<double> nanoseconds;
  std::vector<double> slices_nanoseconds;  ///< Of bit slices.
};

/// Filters of one column in the form that was chosen, against bit slices of the same target FPR.
struct FormResult {
  std::string dataset;
  std::string column;
  std::string form;  ///< GranuleFiltersName
  uint64_t rows = 0;
  uint64_t granules = 0;
  uint64_t values = 0;  ///< Distinct.
  uint64_t pairs = 0;   ///< Values distinct within their granule, summed over granules.
  uint64_t index_bytes = 0;
  uint64_t slices_index_bytes = 0;
  uint64_t filter_bytes = 0;
  uint64_t slices_filter_bytes = 0;
  std::vector<double> build_nanoseconds;  ///< Processor time per row: of the index, its values and
                                          ///< all; by turn.
  std::vector<double> slices_build_nanoseconds;
  double false_granules = 0;  ///< Per value that occurs.
  double slices_false_granules = 0;
  double false_granules_of_absent = 0;  ///< Per value that does not.
  double slices_false_granules_of_absent = 0;
  std::vector<FormTimes> times;
};

/// Filling a database with and without an index of one column. One number per repetition.
struct WriteCostResult {
  std::string dataset;
  std::string column;
  std::vector<double> seconds_with;
  std::vector<double> seconds_without;
  std::vector<double> cpu_seconds_with;
  std::vector<double> cpu_seconds_without;
};

/// What indexes cost while nobody scans, by where they are: "no index", "properties", "sidecars".
struct CarrierResult {
  std::string dataset;
  std::string carrier;
  uint64_t num_ssts = 0;
  uint64_t sst_bytes = 0;
  uint64_t sidecar_bytes = 0;
  uint64_t resident_bytes = 0;    ///< Of table readers, outside of the block cache, at rest.
  uint64_t tried_sst_bytes = 0;   ///< Of one SST,
  uint64_t unopenable_bytes = 0;  ///< those of which a flipped bit keeps it from opening.
  uint64_t lookup_bytes = 0;      ///< Read by all lookups of absent keys.
  std::vector<double> lookup_nanoseconds;  ///< Of one, per round.
};

/// A whole run.
struct Results {
  std::vector<std::string> inputs;  ///< Descriptions of the datasets.
  bool direct_reads = false;        ///< Reads went past the page cache.
  double seconds = 0;
  std::vector<ScanResult> scans;      ///< Of default granules and of others.
  std::vector<ScanResult> fpr_scans;  ///< Of many more values, for the rate alone.
  std::vector<AnalysisResult> analyses;
  std::vector<IndexSizeResult> sizes;
  std::vector<FormResult> forms;
  std::vector<WriteCostResult> writes;
  std::vector<CarrierResult> carriers;
};

/// Writes skip.json into `dir`, created if missing. Throws Failure.
void WriteJson(const Results& results, const std::filesystem::path& dir);

}  // namespace blocksieve::bench::skip
