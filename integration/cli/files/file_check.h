#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/engine/table_file.h"
#include "integration/cli/files/rate_interval.h"

namespace blocksieve::cli {

/// What asking a file's filters showed.
struct FileCheck {
  FileReport file;
  uint64_t keys_asked = 0;
  uint64_t false_negatives = 0;
  std::string unseen;  ///< Why some keys could not be asked; empty: all were.

  /// Absent keys that were asked, and those of them that passed; 0 if there is no filter.
  uint64_t num_probes = 0;
  uint64_t num_passed = 0;
  std::optional<RateInterval> fpr;  ///< Where it lies, with a confidence of 95 %.

  /// All that is wrong with the file. Empty: nothing.
  std::vector<std::string> problems;
};

/// Reads all of the file. Damage is among the problems, not thrown.
FileCheck CheckFile(TableFile* file, uint64_t num_probes);

}  // namespace blocksieve::cli
