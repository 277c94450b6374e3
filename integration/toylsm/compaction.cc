#include "integration/toylsm/compaction.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace blocksieve::toylsm {

bool NeededVersions::IsNeeded(const Entry& entry) {
  const bool is_newest = !key_ || *key_ != entry.key;
  if (is_newest) key_ = entry.key;
  const Sequence newer = std::exchange(newer_sequence_, entry.sequence);
  if (!is_newest) {
    // A reader sees it only at a snapshot before the next newer version.
    const auto snapshot = std::lower_bound(snapshots_.begin(), snapshots_.end(), entry.sequence);
    if (snapshot == snapshots_.end() || *snapshot >= newer) return false;
  }
  if (entry.type == EntryType::kPut) return true;
  // A delete is needed as long as there is anything to hide: older versions that a snapshot keeps
  // here, or in files below.
  const bool hides_kept = !snapshots_.empty() && snapshots_.front() < entry.sequence;
  return hides_kept || may_be_below_(entry.key);
}

SstFiles Compaction::InputFiles() const {
  SstFiles all;
  for (const Run& run : inputs) all.insert(all.end(), run.files.begin(), run.files.end());
  return all;
}

double CompactionPicker::Score(const Version& version, int level) const {
  if (level == 0) {
    const auto files = std::count_if(version.runs.begin(), version.runs.end(),
                                     [](const Run& run) { return run.level == 0; });
    return static_cast<double>(files) / options_.level0_files;
  }
  const Run* const run = version.FindLevel(level);
  if (run == nullptr) return 0;
  const double limit =
      static_cast<double>(options_.level1_bytes) * std::pow(options_.size_ratio, level - 1);
  // At its limit a level is not too large yet.
  return static_cast<double>(run->num_bytes()) / (limit + 1);
}

std::optional<Compaction> CompactionPicker::Pick(const Version& version) {
  int level = 0;
  for (int i = 1; i + 1 < kNumLevels; ++i) {
    if (Score(version, i) > Score(version, level)) level = i;
  }
  if (Score(version, level) < 1) return std::nullopt;
  Compaction compaction;
  compaction.output_level = level + 1;
  if (level == 0) {
    // All of them: a file of level 0 that is left must not be older than what goes below.
    for (const Run& run : version.runs) {
      if (run.level == 0) compaction.inputs.push_back(run);
    }
  } else {
    const SstFiles& files = version.FindLevel(level)->files;
    auto file = std::find_if(files.begin(), files.end(),
                             [&](const auto& f) { return f->first_key() > next_key_[level]; });
    if (file == files.end()) file = files.begin();
    next_key_[level] = (*file)->last_key();
    compaction.inputs.push_back({level, {*file}});
  }
  std::string first = compaction.inputs.front().files.front()->first_key();
  std::string last = compaction.inputs.front().files.front()->last_key();
  for (const auto& file : compaction.InputFiles()) {
    first = std::min(first, file->first_key());
    last = std::max(last, file->last_key());
  }
  if (const Run* const below = version.FindLevel(level + 1)) {
    Run overlapping{level + 1, {}};
    for (const auto& file : below->files) {
      if (file->last_key() >= first && file->first_key() <= last) overlapping.files.push_back(file);
    }
    if (!overlapping.files.empty()) compaction.inputs.push_back(std::move(overlapping));
  }
  return compaction;
}

std::optional<Compaction> CompactionPicker::PickAll(const Version& version) {
  if (version.runs.empty()) return std::nullopt;
  return Compaction{version.runs, std::max(1, version.runs.back().level)};
}

bool MayBeBelow(const std::vector<Run>& runs, int level, std::string_view key) {
  return std::any_of(runs.begin(), runs.end(), [&](const Run& run) {
    return run.level > level && run.FindFile(key) < run.files.size();
  });
}

}  // namespace blocksieve::toylsm
