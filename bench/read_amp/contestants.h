#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/filter_policy.h>

#include "bench/support/database.h"

namespace blocksieve::bench::read_amp {

/// A contestant with its own filters.
struct LookupContestant : Contestant {
  /// Its role in the comparison: "no_filter"; "stock_default", "ribbon_in_memory" (stock Ribbon),
  /// "same_memory" (our ribbon) and "by_level" (the goal of the whole tree), all in the same
  /// memory; "stock_bloom", "stock_ribbon" and "blocksieve", all of the same FPR.
  std::string role;
};

/// All contestants, first the one without filters. The stock filters "at the same FPR" have the
/// bits per key at which their FPR is `target_fpr`: by the exact model of 512-bit lines for Bloom,
/// by RocksDB's estimate, from which it computes their size, for Ribbon. Throws Failure.
std::vector<LookupContestant> MakeContestants(double target_fpr);

/// The policy of an option string. Throws Failure if RocksDB does not know it or makes another one:
/// a run that silently had no filter would be worthless.
std::shared_ptr<const rocksdb::FilterPolicy> PolicyFromString(const std::string& text);

/// Amount of measuring.
struct Effort {
  unsigned rounds = 5;             ///< Each fills and measures a new database of every contestant.
  uint64_t lookups = 100'000;      ///< Per pass, of each kind.
  double max_cold_seconds = 1;     ///< Time limit of a cold pass.
  unsigned timed_warm_passes = 3;  ///< Per round. A cold pass is timed and counted at once.
  double no_new_round_after = 0;   ///< Seconds: no round begins that would end later. 0: no limit.
};

/// Fills and measures all contestants, one database at a time. Each round begins with another
/// contestant, so that a changing load on the machine favours none. Throws Failure on any error,
/// any wrong answer, and if a filter never rejected anything.
void RunExperiment(const Input& input, double target_fpr, const Effort& effort, Job& job);

}  // namespace blocksieve::bench::read_amp
