#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/ranges/range_database.h"
#include "bench/support/results.h"

namespace blocksieve::bench::ranges {

/// What was measured of one database.
struct Measured {
  double filter_bytes = 0;
  double refusals_per_file = 0;      ///< Lines in the log that say that a file got no range filter.
  std::vector<double> fill_seconds;  ///< Of processor time, by sorted run.

  // If it is sought in (IsSought); seconds per seek, by turn:
  std::vector<double> blocks_per_seek;  ///< In empty ranges, by kind of queries.
  double blocks_per_found = 0;          ///< In ranges of one key.
  std::vector<double> empty_seconds;    ///< All lengths alike.
  std::vector<double> found_seconds;
  std::vector<double> cold_seconds;  ///< In empty ranges; without a filter and with ranges only.

  // If keys are looked up (IsLookedUp); seconds per lookup, by turn:
  std::vector<double> hit_seconds;
  std::vector<double> miss_seconds;
};

/// The databases of one set of keys, side by side.
struct Comparison {
  std::string set;
  uint64_t num_keys = 0;
  std::vector<std::string> queries;  ///< First those that differ in nothing but their length.
  Measured measured[kNumRoles];      ///< By Role.

  const Measured& of(Role role) const { return measured[static_cast<size_t>(role)]; }

  void AddTo(Results& results) const;
};

}  // namespace blocksieve::bench::ranges
