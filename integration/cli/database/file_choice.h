#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/database/table/table_file.h"

namespace blocksieve::cli {

/// The files to read: those of a database, or a single one.
struct FileChoice {
  std::string db;                     ///< Empty: not given.
  std::string file;                   ///< Empty: not given.
  std::optional<std::string> family;  ///< Restricts them to a column family.
};

/// The chosen files, each open only while it is visited.
struct ChosenFiles {
  std::vector<FilePlace> places;
  FileChoice choice;

  /// Files that could not be visited.
  struct Missed {
    std::vector<FilePlace> vanished;    ///< Removed by another process meanwhile.
    std::vector<std::string> unopened;  ///< Errors, one for each damaged or missing file.
  };

  /// Visits all files. `doing` names the work in the progress line.
  Missed ForEach(const std::string& doing, const std::function<void(TableFile*)>& visit) const;

  /// The reports of all files, in the order of `places`. If another process removes files
  /// meanwhile, lists the files again and reads the new ones, so that all reports belong to one
  /// list. After five attempts, files of the last list may be missed.
  std::vector<FileReport> ReadReports(const std::string& doing, Missed* missed);

 private:
  void SeparateMissingFiles(Missed* missed) const;
};

/// Throws UsageError, Failure.
ChosenFiles FindFiles(const FileChoice& choice);

}  // namespace blocksieve::cli
