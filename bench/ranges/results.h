#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/ranges/contestants.h"

namespace blocksieve::bench::ranges {

/// Empty ranges of one kind, and what all contestants read for them.
struct QuestionResult {
  std::string question;      ///< For the tables.
  double expected_keys = 0;  ///< In ranges of this length.
  std::string starts;        ///< Where they begin.

  /// Data blocks per seek that a filter of prefixes would leave, of the length that suits these
  /// ranges best and without false positives. Computed.
  double least_with_prefixes = 0;
};

/// One database.
struct ContestantResult {
  Role role = Role::kNoFilter;
  uint64_t filter_bytes = 0;
  uint64_t refusals = 0;             ///< Lines in the log: a file got no range filter.
  std::vector<double> fill_seconds;  ///< Of processor time, by sorted run.

  // Of those that are sought in:
  std::vector<double> blocks_per_seek;    ///< In empty ranges, by question.
  double blocks_per_found = 0;            ///< In ranges of one key.
  std::vector<double> empty_nanoseconds;  ///< Per seek, all lengths alike; one per turn.
  std::vector<double> found_nanoseconds;
  std::vector<double> cold_nanoseconds;  ///< Of empty ranges; only of some contestants.
  double cold_blocks_per_seek = 0;

  // Of those in which keys are looked up, one per turn:
  std::vector<double> hit_nanoseconds;
  std::vector<double> miss_nanoseconds;
};

/// A filter of its own, without RocksDB.
struct FilterResult {
  std::string set;
  uint64_t keys = 0;
  double range_fpr = 0;
  std::string absent_reason;               ///< Why there is no range filter; empty if there is one.
  double bits_per_key = 0;                 ///< Of the range filter alone.
  double model_bits_per_key = 0;           ///< As RangeBitsPerKey says.
  double estimated_fpr = 0;                ///< As the filter itself says.
  std::vector<double> rates;               ///< Share of empty ranges that may match, by question.
  std::vector<double> probe_nanoseconds;   ///< Of empty ranges, all lengths alike.
  std::vector<double> build_nanoseconds;   ///< Per key, of points and ranges.
  std::vector<double> points_nanoseconds;  ///< Of the same filter of points alone.
};

/// Small filters: what they take besides their bits per key.
struct FixedBytesResult {
  std::string set;
  uint64_t keys = 0;
  bool are_neighbours = false;  ///< In the order of the set's keys.
  uint64_t bytes = 0;
  double fixed_bytes = 0;
};

/// The databases of one set of keys.
struct SetResult {
  std::string set;
  uint64_t keys = 0;
  uint64_t runs = 0;
  uint64_t prefix_bytes = 0;  ///< Of the stock prefix Bloom.
  std::vector<QuestionResult> questions;
  std::vector<ContestantResult> contestants;
};

/// One contestant in a workload.
struct WorkloadTimes {
  Role role = Role::kNoFilter;
  double blocks_per_operation = 0;
  std::vector<double> nanoseconds;       ///< Per operation, cached; one per turn.
  std::vector<double> cold_nanoseconds;  ///< The same with nothing cached.
};

struct WorkloadResult {
  std::string workload;
  std::string description;
  uint64_t keys = 0;
  double keys_per_scan = 0;
  std::vector<WorkloadTimes> contestants;
};

/// A whole run.
struct Results {
  bool is_quick = false;
  bool direct_reads = false;  ///< Cold reads went past the page cache.
  double seconds = 0;
  std::vector<SetResult> sets;
  std::vector<FilterResult> filters;
  std::vector<FixedBytesResult> small_filters;
  std::vector<WorkloadResult> workloads;
};

/// Writes ranges.json into `dir`, created if missing. Throws Failure.
void WriteJson(const Results& results, const std::filesystem::path& dir);

}  // namespace blocksieve::bench::ranges
