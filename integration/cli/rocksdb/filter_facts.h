#pragma once

#include <cstdint>
#include <string>

#include "blocksieve/bytes.h"
#include "integration/cli/engine/table_file.h"

namespace blocksieve::cli {

/// What a single filter says about itself.
struct FilterFacts {
  FilterOrigin origin = FilterOrigin::kUnreadable;
  std::string kind;
  uint64_t num_entries = 0;
  double predicted_fpr = 1;
  std::string problem;  ///< Why it is unreadable or unknown; otherwise empty.
};

/// Describes any filter of RocksDB's built-in family. Stock filters do not record how many entries
/// they have, so `stock_bits_per_entry` is that of the whole file. REQUIRES: it is positive.
FilterFacts DescribeFilter(ByteView contents, double stock_bits_per_entry);

}  // namespace blocksieve::cli
