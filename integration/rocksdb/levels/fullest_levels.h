#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <vector>

#include "blocksieve/tree.h"

namespace blocksieve::rocksdb_plugin {

/// The index of the level with the most keys; 0 of none.
inline size_t LargestLevel(const std::vector<TreeLevel>& levels) {
  return static_cast<size_t>(std::ranges::max_element(levels, {}, &TreeLevel::num_keys) -
                             levels.begin());
}

/// The levels of a tree as full as they were lately. Levels above the largest become as full again
/// before its files are compacted: without room left for them below a ceiling, their new files had
/// no filters, and a lookup read a block in each. Not thread-safe.
class FullestLevels {
 public:
  /// At most this share of all keys is expected besides those that are there: the rest of a ceiling
  /// is used meanwhile.
  static constexpr double kMaxExpectedShare = 0.1;

  void Remember(const std::vector<TreeLevel>& levels) {
    constexpr double kKept = 0.95;  // after each flush and compaction
    if (levels.size() > fullest_.size()) fullest_.resize(levels.size(), {.num_runs = 0});
    for (size_t i = 0; i < fullest_.size(); ++i) {
      fullest_[i].num_runs *= kKept;
      if (i < levels.size() && levels[i].num_keys() > fullest_[i].num_keys())
        fullest_[i] = levels[i];
    }
  }

  /// Adds keys to levels above the largest that had more.
  void Expect(std::vector<TreeLevel>* levels) const {
    const size_t end = std::min(LargestLevel(*levels), fullest_.size());
    double missing = 0;
    for (size_t i = 0; i < end; ++i)
      missing += std::max(0.0, fullest_[i].num_keys() - (*levels)[i].num_keys());
    const double share = std::min(1.0, kMaxExpectedShare * NumKeys(*levels) / missing);
    for (size_t i = 0; i < end; ++i) {
      TreeLevel& level = (*levels)[i];
      const double more = fullest_[i].num_keys() - level.num_keys();
      if (more <= 0) continue;
      const double keys = level.num_keys() + share * more;
      level.keys_per_run = i == 0 ? fullest_[i].keys_per_run : keys;
      level.num_runs = i == 0 ? keys / level.keys_per_run : 1;
    }
  }

 private:
  std::vector<TreeLevel> fullest_;
};

}  // namespace blocksieve::rocksdb_plugin
