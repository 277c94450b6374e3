#pragma once

#include <cstdint>
#include <string>

#include "integration/cli/term/text.h"

namespace blocksieve::cli {

/// Data block reads of lookups of absent keys, by RocksDB's counters.
struct MeasuredReads {
  uint64_t num_lookups = 0;
  uint64_t num_blocks = 0;  ///< Data blocks read, all of them wasted.

  double PerLookup() const { return term::Ratio(num_blocks, num_lookups); }
};

/// Looks up absent keys close to existing ones until 2,000 blocks were read, which makes the
/// standard error 2.2 %, or for five seconds. Opens the database read-only. Measures nothing if
/// there are no keys, or keys have timestamps. Throws Failure.
MeasuredReads MeasureReads(const std::string& database, const std::string& family);

}  // namespace blocksieve::cli
