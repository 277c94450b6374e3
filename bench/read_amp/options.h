#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace blocksieve::bench::read_amp {

/// The command line.
struct RunOptions {
  std::string input;  ///< TSV file or "-"; empty: rows or dpkg.
  uint64_t rows = 0;  ///< Synthetic rows; 0: none.
  uint64_t value_bytes = 100;
  uint64_t seed = 1;
  double target_fpr = 0.01;
  bool quick = false;
  unsigned repeat = 0;   ///< 0: as many rounds as suit the kind of run.
  uint64_t lookups = 0;  ///< 0: as many as suit the kind of run.
  std::filesystem::path out = "build/bench-results";
  std::filesystem::path db_dir;  ///< Empty: below `out`.
};

/// Throws Exit.
RunOptions ParseCommandLine(int argc, const char* const* argv);

}  // namespace blocksieve::bench::read_amp
