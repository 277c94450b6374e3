#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/read_amp/contestants.h"
#include "bench/read_amp/counters.h"
#include "bench/read_amp/engine.h"

namespace blocksieve::bench::read_amp {

/// What was measured of one kind of lookup on one tree at one temperature.
struct LookupResult {
  Counters counters;                       ///< Summed over the rounds.
  std::vector<double> lookups_per_second;  ///< One per timed pass.
};

/// What was measured of a tree in one state.
struct TreeResult {
  TreeShape shape;
  LookupResult cold_absent;
  LookupResult cold_present;
  LookupResult warm_absent;
  LookupResult warm_present;
};

struct ContestantResult {
  Contestant contestant;
  std::vector<double> fill_seconds;        ///< One per round.
  std::vector<double> compaction_seconds;  ///< Of everything into one level; one per round.
  TreeResult leveled;                      ///< As filled: several levels.
  TreeResult compacted;                    ///< After compaction of everything into one level.
};

/// A whole run.
struct Results {
  double target_fpr = 0;
  std::string input;  ///< Description of the rows.
  uint64_t num_rows = 0;
  bool direct_reads = false;  ///< Cold reads went past the page cache.
  unsigned rounds = 0;
  double seconds = 0;
  std::vector<ContestantResult> contestants;
};

/// Writes results.json into `dir`, created if missing. Throws Failure.
void WriteJson(const Results& results, const std::filesystem::path& dir);

}  // namespace blocksieve::bench::read_amp
