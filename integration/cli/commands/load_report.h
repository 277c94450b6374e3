#pragma once

#include <cstdint>
#include <string>

#include "blocksieve/skip_index_summary.h"

// What `load` says in the end.

namespace blocksieve::cli {

struct Loaded {
  uint64_t rows = 0;
  uint64_t bytes = 0;   // of keys and values
  std::string problem;  // why it ended before the end of the file; empty: it did not
};

std::string LoadText(const Loaded& loaded, const SkipIndexSummary& indexes);
std::string LoadJson(const Loaded& loaded, const SkipIndexSummary& indexes);

/// What was left out of indexes for its size, and how large --max-index-bytes would have to be;
/// empty: nothing was. Ends with a line end.
std::string SizeWarning(const SkipIndexSummary& indexes);

}  // namespace blocksieve::cli
