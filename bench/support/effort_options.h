#pragma once

#include <filesystem>
#include <string>

namespace blocksieve::bench {

/// The command line of a job without input of its own.
struct EffortOptions {
  bool quick = false;
  std::filesystem::path out = "build/bench-results";
};

/// What --help says of such a job.
struct EffortManual {
  std::string name;  ///< As it is called.
  std::string description;
  std::string quick_help;
  std::string files;  ///< That it writes.
};

/// Throws Exit.
EffortOptions ParseEffortOptions(const EffortManual& manual, int argc, const char* const* argv);

}  // namespace blocksieve::bench
