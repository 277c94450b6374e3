#pragma once

#include <cstdint>

#include "blocksieve/status.h"

namespace blocksieve {

/// A layout as ClickHouse picks it: whole bits per key and number of hash functions.
struct ClickHouseLayout {
  uint32_t bits_per_key = 0;  ///< 2 to 20.
  uint32_t num_probes = 0;    ///< Bits that a key sets (k), which ClickHouse calls hash functions.
};

/// What ClickHouse's table gives for a target FPR, for comparison, with its known holes fixed
/// (lib/bloom/clickhouse.cc lists them).
/// Errors: InvalidArgument if the target is NaN, above 1, or below 6.71e-5, which no row of the
/// table reaches.
Result<ClickHouseLayout> clickhouse_best_practice(double target_fpr);

}  // namespace blocksieve
