#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "integration/cli/database/table/table_file.h"

namespace blocksieve::cli {

/// Lower and upper bound of Wilson's score interval (1927), with 95 % confidence, for `num_hits` of
/// `num_trials`. Also valid for no hits. REQUIRES: num_hits <= num_trials, num_trials > 0
std::pair<double, double> WilsonInterval(uint64_t num_hits, uint64_t num_trials);

/// The result of checking the filters with one kind of query.
struct QueryCheck {
  uint64_t num_checked = 0;      ///< Queries that match the file.
  uint64_t false_negatives = 0;  ///< Those that the filters ruled out.
  uint64_t num_probed = 0;       ///< Queries that match nothing; 0 if there is no filter.
  uint64_t num_passed = 0;       ///< Those that the filters passed.

  void Count(bool may_match) {
    ++num_checked;
    false_negatives += !may_match;
  }
};

/// The result of checking a file and its filters.
struct FileCheck {
  FileReport file;
  QueryCheck keys;
  QueryCheck ranges;      ///< Short ranges where keys are likely, if there are range filters.
  QueryCheck prefixes;    ///< Ranges with all keys below a prefix, if the filters have prefixes.
  std::string unchecked;  ///< Why some keys were not checked; empty if all were.
  std::vector<std::string> problems;
};

/// Reads the whole file, also if another process removes it meanwhile. Damage becomes a problem,
/// not an exception.
FileCheck CheckFile(TableFile* file, uint64_t num_probes);

}  // namespace blocksieve::cli
