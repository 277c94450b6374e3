#pragma once

/// \file
/// Range filters for RocksDB: a seek with an upper bound reads no block of a file that has no key
/// in its range. integration/rocksdb/RANGES.md tells how it works, and when it does not.

#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstdint>

#include "blocksieve/rocksdb/export.h"
#include "blocksieve/rocksdb/filter_policy.h"

namespace blocksieve {

/// What EnableRangeFilter (blocksieve/rocksdb.h) sets.
struct RangeFilterOptions {
  /// Of the filter policy; `ranges` is set in any case.
  FilterPolicyOptions policy = {};

  /// Take the place of the prefix extractor that the column family has. Seeks that rely on it,
  /// with prefix_same_as_start or in prefix mode, no longer end where the prefix does.
  bool replace_prefix_extractor = false;
};

/// Makes seeks with these options ask range filters: sets iterate_upper_bound, which has to outlive
/// the iterator, and auto_prefix_mode. It changes no result.
BLOCKSIEVE_EXPORT void PrepareRangeRead(const rocksdb::Slice* upper_bound,
                                        rocksdb::ReadOptions* read_options);

/// How often RocksDB asked filters for ranges, by what came of it, since the process began. One
/// seek asks each sorted run once.
struct RangeFilterCounts {
  uint64_t no = 0;         ///< No key in the range: no block was read.
  uint64_t may_match = 0;  ///< There may be one.

  // Those that could not tell, and so may match:
  uint64_t beyond_partition = 0;  ///< Nothing here, but the range goes on in the next partition.
  uint64_t no_range_filter = 0;   ///< The file has a filter for points only.
  uint64_t no_bound = 0;          ///< The seek had no upper bound, or no auto_prefix_mode.
  uint64_t empty_begin = 0;       ///< The seek began at the empty key.
  uint64_t untrusted = 0;         ///< RocksDB failed the self-test; stderr told why.

  /// All questions.
  uint64_t asked() const {
    return no + may_match + beyond_partition + no_range_filter + no_bound + empty_begin + untrusted;
  }
};

/// Thread-safe.
BLOCKSIEVE_EXPORT RangeFilterCounts GetRangeFilterCounts();

}  // namespace blocksieve
