#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "blocksieve/filter.h"
#include "blocksieve/rocksdb/enable.h"
#include "integration/rocksdb/maintenance/file_report.h"

// Range filters and prefixes that the keys of existing files would give.

namespace blocksieve::rocksdb_plugin {

/// Range filters or prefixes of a sorted run. FPRs are shares of short empty ranges, or of absent
/// prefixes, that pass.
struct RunPart {
  double current_fpr = 1;     ///< Of the current filters; 1 without range filters and prefixes.
  double estimated_fpr = 1;   ///< As the sample estimates it; 1 without a sample.
  double fpr = 1;             ///< The same, with 1 for filters that would not have the part.
  uint64_t num_bytes = 0;     ///< Parts that would be written, for all keys of the run.
  uint64_t num_prefixes = 0;  ///< Distinct ones, summed over the filters of the run.
  uint64_t sampled_files = 0;
  uint64_t sampled_keys = 0;
};

struct RunSeeks {
  RunPart ranges;
  RunPart prefixes;
};

/// Visits the keys of a file in order, up to an error if it cannot be read.
using KeysOfFile =
    std::function<void(const FileReport&, const std::function<void(std::string_view)>&)>;

/// Maximum number of keys that are sampled of a file.
inline constexpr uint64_t kSampledKeys = 1 << 20;

/// Visits the first keys.
void VisitSampledKeys(const FileReport& file, const KeysOfFile& keys_of_file,
                      const std::function<void(std::string_view)>& visit,
                      uint64_t max_keys = kSampledKeys);

/// Range filters and prefixes built from some files of a run.
class SeekSample {
 public:
  /// `prefixes`: boundaries, "auto" or "". `max_build_bytes` as in the policy.
  SeekSample(std::string prefixes, double target_fpr, uint64_t max_build_bytes = 0);

  void AddFile(const FileReport& file, const KeysOfFile& keys_of_file,
               uint64_t max_keys = kSampledKeys);

  /// Extrapolates to the filters of all keys of the run.
  RunSeeks ScaleTo(uint64_t keys_of_run) const;

  /// Why some filters could not be built; empty if all were.
  const std::string& problem() const { return problem_; }

 private:
  void AddFilter(const Layout& points, FilterBuilder* builder);

  const double target_fpr_;
  const EnableOptions policy_;
  size_t num_files_ = 0;
  double num_keys_ = 0;
  double estimated_fpr_ = 0;  // times keys
  double fpr_ = 0;            // times keys
  double num_bytes_ = 0;
  double ruled_out_ = 0;  // share of absent prefixes, times keys
  double prefix_bytes_ = 0;
  double num_prefixes_ = 0;
  std::string problem_;
};

}  // namespace blocksieve::rocksdb_plugin
