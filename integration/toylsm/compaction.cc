// SPDX-License-Identifier: Apache-2.0
#include "integration/toylsm/compaction.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace blocksieve::toylsm {

// Fill of the run's level. Levels with 1 or more are compacted.
double CompactionPicker::Score(const Run& run, const Version& version) const {
  const auto is_level0 = [](const Run& each) { return each.level == 0; };
  if (is_level0(run)) {
    return static_cast<double>(std::count_if(version.runs.begin(), version.runs.end(), is_level0)) /
           options_.level0_files;
  }
  if (run.level == kNumLevels - 1) return 0;
  const double limit =
      static_cast<double>(options_.level1_bytes) * std::pow(options_.size_ratio, run.level - 1);
  double num_bytes = 0;
  for (const auto& file : run.files) num_bytes += static_cast<double>(file->info().num_bytes());
  return num_bytes / (limit + 1);  // below 1 at the limit
}

std::vector<Run> CompactionPicker::Pick(const Version& version) {
  const auto fullest = std::max_element(
      version.runs.begin(), version.runs.end(),
      [&](const Run& a, const Run& b) { return Score(a, version) < Score(b, version); });
  if (fullest == version.runs.end() || Score(*fullest, version) < 1) return {};
  const int level = fullest->level;
  std::vector<Run> inputs;
  if (level == 0) {
    // All of level 0: no entry that stays may be older than one that moves down.
    std::copy_if(version.runs.begin(), version.runs.end(), std::back_inserter(inputs),
                 [](const Run& run) { return run.level == 0; });
  } else {
    const SstFiles& files = fullest->files;
    auto file = std::find_if(files.begin(), files.end(), [&](const auto& each) {
      return each->first_key() > last_key_[level];
    });
    if (file == files.end()) file = files.begin();
    last_key_[level] = (*file)->last_key();
    inputs.push_back({level, {*file}});
  }
  // Files of the next level that overlap.
  std::string first = inputs.front().files.front()->first_key();
  std::string last;
  for (const auto& file : ListFiles(inputs)) {
    first = std::min(first, file->first_key());
    last = std::max(last, file->last_key());
  }
  for (const Run& run : version.runs) {
    if (run.level != level + 1) continue;
    Run overlapping{run.level, {}};
    std::copy_if(run.files.begin(), run.files.end(), std::back_inserter(overlapping.files),
                 [&](const auto& f) { return f->last_key() >= first && f->first_key() <= last; });
    if (!overlapping.files.empty()) inputs.push_back(std::move(overlapping));
  }
  return inputs;
}

}  // namespace blocksieve::toylsm
