#include "integration/toylsm/version.h"

#include <algorithm>
#include <tuple>

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

uint64_t Run::num_bytes() const {
  uint64_t sum = 0;
  for (const auto& file : files) sum += file->info().num_bytes;
  return sum;
}

Result<std::vector<Run>> Version::MakeRuns(SstFiles files) {
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    if (a->info().level != b->info().level) return a->info().level < b->info().level;
    if (a->info().level == 0) return a->info().number > b->info().number;  // the newest first
    return a->first_key() < b->first_key();
  });
  std::vector<Run> runs;
  for (std::shared_ptr<SstReader>& file : files) {
    const int level = file->info().level;
    if (level == 0 || runs.empty() || runs.back().level != level) {
      runs.push_back({level, {}});
    } else if (file->first_key() <= runs.back().files.back()->last_key()) {
      return Status::Corruption("files of level " + std::to_string(level) + " overlap");
    }
    runs.back().files.push_back(std::move(file));
  }
  return runs;
}

SstFiles Version::AllFiles() const {
  SstFiles all;
  for (const Run& run : runs) all.insert(all.end(), run.files.begin(), run.files.end());
  return all;
}

const Run* Version::FindLevel(int level) const {
  for (const Run& run : runs) {
    if (run.level == level) return &run;
  }
  return nullptr;
}

}  // namespace blocksieve::toylsm
