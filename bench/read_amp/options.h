#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace blocksieve::read_amp {

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

/// Thrown when there is nothing to run: help was printed (code 0), or arguments are wrong and it
/// has been said how (code 2).
struct Exit {
  int code;
};

RunOptions ParseCommandLine(int argc, const char* const* argv);

}  // namespace blocksieve::read_amp
