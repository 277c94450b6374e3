#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/maintenance.h"
#include "integration/rocksdb/maintenance/filter_plan.h"
#include "integration/rocksdb/maintenance/seek_sample.h"
#include "integration/rocksdb/maintenance/sorted_runs.h"

// The files of a column family whose filters would improve if they were rewritten.

namespace blocksieve::rocksdb_plugin {

/// A change must save this share of the wasted reads or of the memory.
inline constexpr double kMinGain = 0.05;

/// Current or predicted memory and wasted reads of filters.
struct Prediction {
  double wasted_reads_absent = 0;  ///< Per lookup of an absent key.
  double wasted_reads = 0;         ///< Per lookup, whether or not the key is absent.
  uint64_t filter_bytes = 0;
};

struct FileToRewrite {
  FilePlace place;
  uint64_t num_bytes = 0;   ///< Size of the file.
  double saved_reads = 0;   ///< Per lookup of an absent key; negative if more are wasted.
  int64_t saved_bytes = 0;  ///< Key filter bytes; negative if the new filter is larger.
  /// What the filter answers for ranges with, as in the policy's options, or "none". Empty if that
  /// does not change.
  std::string new_parts = {};
};

/// Wasted reads per lookup of an absent key, and memory, by the model of the filters.
struct FamilyPrediction {
  std::string family;
  uint64_t num_keys = 0;
  Prediction current;
  Prediction projected;  ///< After the files are rewritten.
  bool is_known = true;  ///< Otherwise `projected` is not set.
};

/// Predicts a column family after some of its files change. The list must outlive it.
class FamilyPlanner {
 public:
  explicit FamilyPlanner(const RunList& list);

  void Add(const FilterChange& change, std::vector<FileToRewrite>* rewrites);

  /// Whether all changes together save kMinGain, which makes small ones worthwhile, too.
  bool GainsByAll(const std::vector<FilterChange>& changes) const;

  FamilyPrediction Finish();

 private:
  double SavedRate(const FilterChange& change) const;  // the change of the run's rate
  Prediction PredictionOf(const std::vector<double>& fprs, uint64_t filter_bytes) const;

  const RunList& list_;
  const std::vector<double> shares_;
  std::vector<double> fprs_;
  uint64_t bytes_ = 0;
  FamilyPrediction prediction_;
};

struct FamilyPlan {
  std::vector<FileToRewrite> rewrites;  ///< As SortBySavings sorts them.
  FamilyPrediction prediction;
};

/// Plans to rewrite the files whose filters this policy would improve. REQUIRES: list has keys.
/// Errors: as AllocateRates.
Result<FamilyPlan> PlanFamily(const RunList& list, const FilterPolicyOptions& policy,
                              const RewriteFiltersOptions& options, const KeysOfFile& keys_of_file);

/// Whether a file is among those that the options select.
bool IsChosen(const RewriteFiltersOptions& options, const FileReport& file);

/// Sorts by saved reads, then by saved memory, descending.
void SortBySavings(std::vector<FileToRewrite>* rewrites);

}  // namespace blocksieve::rocksdb_plugin
