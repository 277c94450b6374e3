#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/tree.h"
#include "integration/toylsm/base/options.h"
#include "integration/toylsm/version.h"

namespace blocksieve::toylsm {

/// Picks compactions so that every level stays within its limit. Picks the files of a level in key
/// order, so that no part is merged more often than others.
class CompactionPicker {
 public:
  explicit CompactionPicker(const Options& options) : options_(options) {}

  /// The inputs of a compaction into the level below that of the first, newest first. Empty if all
  /// levels are within their limits.
  std::vector<Run> Pick(const Version& version);

 private:
  double Score(const Run& first_of_level, const Version& version) const;

  const Options& options_;
  std::string last_key_[kNumLevels];  // of the last file picked from each level
};

/// Checks the options of filters and of the skip index. Errors: InvalidArgument.
Status CheckFilters(const Options& options);

/// The key filters of new files of `level` with `num_entries` entries, in addition to `runs`. With
/// wasted_reads or bits_per_key, their FPR is the best one for that tree. nullopt: none. `shares`:
/// of the tree.
std::optional<FilterOptions> KeyFilterFor(const Options& options, const std::vector<Run>& runs,
                                          uint64_t num_entries, int level, FileShares* shares);

}  // namespace blocksieve::toylsm
