#include "integration/rocksdb/maintenance/sorted_runs.h"

#include <algorithm>
#include <map>

namespace blocksieve::rocksdb_plugin {
namespace {

void AddToRun(const FileReport& file, SortedRun* run) {
  const auto old_keys = static_cast<double>(run->num_keys);
  const auto new_keys = static_cast<double>(FilterKeys(file));
  run->files.push_back(&file);
  run->num_keys += FilterKeys(file);
  if (run->num_keys == 0) return;
  run->fpr = (run->fpr * old_keys + file.filter.predicted_fpr * new_keys) / (old_keys + new_keys);
}

}  // namespace

uint64_t FilterKeys(const FileReport& file) {
  const bool is_readable =
      file.filter.origin == FilterOrigin::kBlocksieve || file.filter.origin == FilterOrigin::kStock;
  return is_readable && file.filter.problems.empty() ? file.filter.num_entries : file.num_entries;
}

uint64_t PointBytes(const FilterReport& filter) {
  return filter.num_bytes - filter.ranges.num_bytes - filter.prefixes.num_bytes;
}

uint64_t RunList::num_keys() const {
  uint64_t sum = 0;
  for (const SortedRun& run : runs) sum += run.num_keys;
  return sum;
}

uint64_t RunList::filter_bytes() const {
  uint64_t sum = 0;
  for (const SortedRun& run : runs) {
    for (const FileReport* const file : run.files) sum += PointBytes(file->filter);
  }
  return sum;
}

bool RunList::answers_ranges() const {
  return std::any_of(runs.begin(), runs.end(), [](const SortedRun& run) {
    return std::any_of(run.files.begin(), run.files.end(),
                       [](const FileReport* file) { return file->filter.answers_ranges(); });
  });
}

lsm::Levels RunList::Levels(std::optional<FilterKind> kind) const {
  // An empty level 0 will get a flush.
  const bool is_short_lived =
      runs.empty() || runs.front().level != 0 || runs.front().files.front()->place.is_short_lived;
  lsm::Levels levels = tree.ToLevels();
  for (size_t i = 0; i < std::min(levels.size(), known.size()); ++i) {
    if (known[i].num_runs != 0) levels[i].lookup_share = known[i].lookup_share;
  }
  lsm::SetKinds(kind, is_short_lived, &levels);
  return levels;
}

std::vector<RunList> SortIntoRuns(const std::vector<FileReport>& files) {
  std::map<std::string, std::map<int, std::vector<SortedRun>>> families;
  for (const FileReport& file : files) {
    const int level = file.place.level;
    std::vector<SortedRun>& runs = families[file.place.family][level];
    if (level == 0 || runs.empty()) {
      runs.emplace_back().level = level;
    }
    AddToRun(file, &runs.back());
  }
  std::vector<RunList> lists;
  for (auto& [family, levels] : families) {
    RunList& list = lists.emplace_back();
    list.family = family;
    for (auto& [level, runs] : levels) {
      list.runs.insert(list.runs.end(), runs.begin(), runs.end());
    }
    list.tree = lsm::Tree(ModelOf(list.runs));
  }
  return lists;
}

std::vector<lsm::Run> ModelOf(const std::vector<SortedRun>& runs) {
  std::vector<lsm::Run> model;
  model.reserve(runs.size());
  for (const SortedRun& run : runs) {
    model.push_back({.level = run.level, .num_keys = static_cast<double>(run.num_keys)});
  }
  return model;
}

void SetCoverage(const ShareBefore& share_before, RunList* list) {
  std::vector<const FileReport*> reports;
  std::vector<lsm::RunFile> files;
  for (size_t i = 0; i < list->runs.size(); ++i) {
    for (const FileReport* const file : list->runs[i].files) {
      if (!file->place.keys) return;
      reports.push_back(file);
      files.push_back({.run = i,
                       .num_keys = static_cast<double>(file->num_entries),
                       .smallest = file->place.keys->smallest,
                       .largest = file->place.keys->largest});
    }
  }
  if (files.empty()) return;
  list->tree =
      lsm::Tree(ModelOf(list->runs), lsm::CoverageOf(files, reports.front()->place.keys->less,
                                                     [&](size_t file, std::string_view key) {
                                                       return share_before(*reports[file], key);
                                                     }));
}

std::vector<std::span<const SortedRun>> ByLevel(const std::vector<SortedRun>& runs) {
  std::vector<std::span<const SortedRun>> levels;
  for (size_t begin = 0, end = 0; begin < runs.size(); begin = end) {
    while (end < runs.size() && runs[end].level == runs[begin].level) ++end;
    levels.emplace_back(&runs[begin], end - begin);
  }
  return levels;
}

}  // namespace blocksieve::rocksdb_plugin
