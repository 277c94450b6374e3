// SPDX-License-Identifier: Apache-2.0
#include "integration/toylsm/version.h"

#include <algorithm>
#include <utility>

namespace blocksieve::toylsm {

size_t Run::FindFileFrom(std::string_view key) const {
  const auto found =
      std::lower_bound(files.begin(), files.end(), key,
                       [](const auto& file, std::string_view k) { return file->last_key() < k; });
  return static_cast<size_t>(found - files.begin());
}

size_t Run::FindFile(std::string_view key) const {
  const size_t file = FindFileFrom(key);
  return file < files.size() && key < files[file]->first_key() ? files.size() : file;
}

bool Run::MayHaveKeyIn(const KeyRange& range, const ReadContext& context) const {
  const size_t file = FindFileFrom(range.begin);
  return file < files.size() && files[file]->MayHaveKeyIn(range, context);
}

uint64_t Run::num_entries() const {
  uint64_t sum = 0;
  for (const auto& file : files) sum += file->index().num_entries;
  return sum;
}

SstFiles ListFiles(const std::vector<Run>& runs) {
  SstFiles all;
  for (const Run& run : runs) all.insert(all.end(), run.files.begin(), run.files.end());
  return all;
}

std::vector<Run> Version::MakeRuns(SstFiles files) {
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    if (a->info().level != b->info().level) return a->info().level < b->info().level;
    if (a->info().level == 0) return a->info().number > b->info().number;  // newest first
    return a->first_key() < b->first_key();
  });
  std::vector<Run> runs;
  for (std::shared_ptr<SstReader>& file : files) {
    const int level = file->info().level;
    if (level == 0 || runs.empty() || runs.back().level != level) runs.push_back({level, {}});
    runs.back().files.push_back(std::move(file));
  }
  return runs;
}

std::vector<std::unique_ptr<EntryIterator>> EntrySources(const Version& version,
                                                         const ReadContext& context,
                                                         const KeyRange& range,
                                                         const SelectedBlocks* selected) {
  std::vector<std::unique_ptr<EntryIterator>> sources;
  sources.push_back(std::make_unique<Memtable::Iterator>(version.memtable));
  for (size_t i = 0; i < version.runs.size(); ++i) {
    const auto* const blocks = selected == nullptr ? nullptr : &(*selected)[i];
    sources.push_back(NewRunIterator(&version.runs[i], context, range, blocks));
  }
  return sources;
}

}  // namespace blocksieve::toylsm
