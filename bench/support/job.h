#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "bench/support/results.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench {

/// A new directory in `parent` (created if missing). The destructor removes it and its contents.
class TempDir {
 public:
  /// Throws if it cannot be created.
  explicit TempDir(const std::filesystem::path& parent);
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The command line of a job.
struct JobOptions {
  bool quick = false;
  std::filesystem::path out = "build/bench-results";

  double target_fpr = 0.01;

  // For jobs that read rows:
  std::string input;  ///< TSV file or "-"; empty: `rows` synthetic rows or dpkg's lists.
  uint64_t rows = 0;  ///< Synthetic rows; 0: not given.
  uint64_t seed = 1;
  std::filesystem::path db_dir;  ///< Empty: below `out`.
};

/// A job, and its --help text besides its options.
struct JobManual {
  std::string benchmark;  ///< The subcommand of bench/run, and the name of the results.
  std::string description;
  std::string quick_help;
  std::string examples = {};  ///< Empty: none.
  uint64_t min_rows = 0;      ///< 0: the job reads no rows.
  bool takes_fpr = false;
};

/// The environment of a measuring job.
struct Job {
  const JobOptions& options;
  const std::filesystem::path& db_dir;  ///< An empty directory for databases.
  const char* cold_reads;  ///< How files there are read: "with direct I/O" or another way.
  Progress& progress;
  Results& results;
};

/// A job's main(): calls `measure` and writes the results that it added. Returns the exit code; see
/// term::RunMain. Errors name bench/run, which starts it.
int RunJob(const JobManual& manual, int argc, const char* const* argv,
           const std::function<void(Job&)>& measure);

}  // namespace blocksieve::bench
