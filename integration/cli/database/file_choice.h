#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/database/table/table_file.h"

namespace blocksieve::cli {

/// Which files a command is to look at: those of a database, or a single one.
struct FileChoice {
  std::string db;                     ///< Empty: not given.
  std::string file;                   ///< Empty: not given.
  std::optional<std::string> family;  ///< Only this column family's.
};

/// The files, each open while it is visited.
struct ChosenFiles {
  std::vector<FilePlace> places;
  FileChoice choice;

  /// The files that could not be visited.
  struct Missed {
    std::vector<FilePlace> vanished;    ///< Another process removed them in the meantime.
    std::vector<std::string> unopened;  ///< What is wrong with them.
  };

  /// Shows progress as `doing`.
  Missed ForEach(const std::string& doing, const std::function<void(TableFile*)>& visit) const;

  /// The reports of all files, in the order of `places`. If another process removes files
  /// meanwhile, lists the files again and reads those that have come instead, so that all reports
  /// are from one list. If that happens again and again, some files of the last list are missed.
  std::vector<FileReport> ReadReports(const std::string& doing, Missed* missed);

 private:
  void SeparateMissingFiles(Missed* missed) const;
};

/// Throws UsageError, Failure.
ChosenFiles FindFiles(const FileChoice& choice);

}  // namespace blocksieve::cli
