#pragma once

#include <cstdint>

#include "blocksieve/bytes.h"
#include "integration/cli/engine/table_file.h"

namespace blocksieve::cli {

/// What a single filter says of itself.
struct FilterFacts {
  FilterOrigin origin = FilterOrigin::kUnreadable;
  std::string kind;
  uint64_t num_entries = 0;
  double predicted_fpr = 1;
  std::string problem;  ///< Of an unreadable one.
};

/// Any filter of RocksDB's built-in family. Stock filters do not say how many entries they have:
/// `stock_bits_per_entry` is what the file as a whole says.
FilterFacts DescribeFilter(ByteView contents, double stock_bits_per_entry);

}  // namespace blocksieve::cli
