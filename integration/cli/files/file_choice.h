#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/engine/engine.h"
#include "integration/cli/term/progress.h"

namespace blocksieve::cli {

/// The files that a command is to look at: those of a database, or a single one.
struct FileChoice {
  std::string db;                     ///< Empty: not given.
  std::string file;                   ///< Empty: not given.
  std::string engine;                 ///< Empty: not given.
  std::optional<std::string> family;  ///< Only this column family's.
};

/// The options --db and --engine, and FILE.
void AddFileOptions(CLI::App* command, FileChoice* choice);

/// The files, each open while it is visited.
struct ChosenFiles {
  const Engine* engine;
  std::vector<FilePlace> places;
  FileChoice choice;

  /// The files that could not be visited.
  struct Missed {
    std::vector<FilePlace> vanished;    ///< Another process removed them meanwhile.
    std::vector<std::string> unopened;  ///< What is wrong with them.
  };

  /// Shows progress as `doing`.
  Missed ForEach(const std::string& doing, const std::function<void(TableFile*)>& visit) const;

  /// What all files say without their data, in the order of `places`. If another process removes
  /// some meanwhile, lists the files again and reads those that have come instead, so that what is
  /// returned is of one list; if that happens again and again, some of the last list are missed.
  std::vector<FileReport> ReadReports(const std::string& doing, Missed* missed);

 private:
  void TellMissingFromVanished(Missed* missed) const;
};

/// Throws UsageError, Failure.
ChosenFiles FindFiles(const FileChoice& choice);

}  // namespace blocksieve::cli
