#pragma once

#include <map>
#include <string>
#include <vector>

namespace blocksieve::testing {

struct ChildResult {
  int exit_code = -1;  ///< -1 if the program was killed.
  std::string output;  ///< Both stdout and stderr.
};

/// Runs a program (found in PATH) to its end, in this process's environment without LD_PRELOAD and
/// BLOCKSIEVE_*, plus `environment`.
ChildResult RunChild(const std::vector<std::string>& command,
                     const std::map<std::string, std::string>& environment = {});

}  // namespace blocksieve::testing
