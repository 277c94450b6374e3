#pragma once

#include <cstdint>
#include <string>

namespace blocksieve::testing {

/// What came of a run.
struct ModelReport {
  uint64_t operations = 0;
  uint64_t seeks = 0;
  uint64_t num_wrong = 0;
  std::string first_wrong;  // of several, one a line
  std::string where;        // what the database is, for what is wrong

  void Wrong(const std::string& what) {
    constexpr uint64_t kMostLines = 10;
    if (num_wrong++ >= kMostLines) return;
    first_wrong += where + ", operation " + std::to_string(operations) + ": " + what + "\n";
  }
};

}  // namespace blocksieve::testing
