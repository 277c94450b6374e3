#include "bench/toylsm/experiment.h"

#include <algorithm>

#include "bench/support/lookup_keys.h"
#include "bench/support/stopwatch.h"
#include "bench/toylsm/lookups.h"
#include "bench/toylsm/scans.h"

namespace blocksieve::bench::toy {

Results RunExperiment(const Dataset& dataset, const Effort& effort, uint64_t seed,
                      const std::filesystem::path& db_dir, Progress& progress) {
  const Stopwatch stopwatch;
  Results results;
  results.input = dataset.description;
  results.num_rows = dataset.rows.size();
  results.row_bytes = dataset.rows.num_bytes();
  results.cache_bytes = std::max<uint64_t>(results.row_bytes / 8, 256 << 10);
  progress.Show("choosing keys to look up");
  const LookupKeys keys = DrawLookupKeys(dataset.rows, effort.lookups, seed);
  MeasureLookups(dataset.rows, keys, seed, db_dir, progress, results);
  MeasureScans(dataset, effort.queries, seed, db_dir, progress, results);
  results.seconds = stopwatch.Seconds();
  return results;
}

}  // namespace blocksieve::bench::toy
