#include "integration/cli/advise/run_coverage.h"

#include <memory>
#include <string>
#include <vector>

#include "integration/cli/term/failure.h"

namespace blocksieve::cli {

ShareBefore ShareBeforeInFiles() {
  // Asking for one file after the other opens each only once.
  return [path = std::string(), file = std::shared_ptr<TableFile>()](const FileReport& report,
                                                                     std::string_view key) mutable {
    constexpr double kUnknown = 0.5;
    try {
      if (path != report.place.path) {
        path = report.place.path;
        file = TableFile::Open(report.place);
      }
      return file == nullptr ? kUnknown : file->ShareBefore(key);
    } catch (const term::Failure&) {
      return kUnknown;
    }
  };
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

}  // namespace blocksieve::cli
