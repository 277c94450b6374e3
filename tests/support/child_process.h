#pragma once

#include <map>
#include <string>
#include <vector>

namespace blocksieve::testing {

struct ChildResult {
  int exit_code = -1;  ///< -1 if it was killed.
  std::string output;  ///< Of stdout and stderr.
};

/// Runs a program (looked for in PATH) to its end. `environment` is added to one's own, without
/// LD_PRELOAD and BLOCKSIEVE_*.
ChildResult RunChild(const std::vector<std::string>& command,
                     const std::map<std::string, std::string>& environment = {});

}  // namespace blocksieve::testing
