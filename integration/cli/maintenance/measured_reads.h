#pragma once

#include <cstdint>
#include <string>

#include "integration/cli/term/text.h"

namespace blocksieve::cli {

/// What lookups of absent keys cost, by RocksDB's own counters.
struct MeasuredReads {
  uint64_t num_lookups = 0;
  uint64_t num_blocks = 0;  ///< Data blocks that they asked for, all in vain.

  double PerLookup() const { return term::Ratio(num_blocks, num_lookups); }
};

/// Looks up keys that the database does not have, next to keys that it has, until so many blocks
/// were read in vain that chance matters little, or for a few seconds. The database is opened
/// read-only. No lookups where there are no keys, or keys have timestamps. Throws Failure.
MeasuredReads MeasureReads(const std::string& database, const std::string& family);

}  // namespace blocksieve::cli
