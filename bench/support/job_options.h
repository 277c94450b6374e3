#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace CLI {
class App;
}

namespace blocksieve::bench {

/// The command line of a job.
struct JobOptions {
  std::string input;  ///< TSV file or "-"; empty: rows or dpkg.
  uint64_t rows = 0;  ///< Synthetic rows; 0: not given.
  uint64_t seed = 1;
  bool quick = false;
  std::filesystem::path out = "build/bench-results";
  std::filesystem::path db_dir;  ///< Empty: below `out`.
};

/// What --help says of a job, besides the options.
struct JobManual {
  std::string name;  ///< As it is called.
  std::string description;
  std::string examples;
  std::string rows_help;
  uint64_t min_rows = 0;
  std::string json;  ///< Name of the file with the results.
};

/// For a job that has further ones: gives `app` these options. What it parses, it writes to
/// `options`, which must outlive it.
void AddJobOptions(const JobManual& manual, CLI::App& app, JobOptions& options);

/// Throws Exit.
JobOptions ParseJobOptions(const JobManual& manual, int argc, const char* const* argv);

/// Creates `options.out`, so that a job fails before the work and not after. Returns where
/// databases go. Throws Failure.
std::filesystem::path PrepareOutput(const JobOptions& options);

}  // namespace blocksieve::bench
