// ranges: what range filters save in RocksDB, and what they cost. See kManual and experiment.h.

#include "bench/ranges/experiment.h"
#include "bench/ranges/key_sets.h"
#include "bench/support/job.h"

namespace blocksieve::bench::ranges {
namespace {

const JobManual kManual = {
    .benchmark = "ranges",
    .description =
        R"(Measures seeks with an upper bound in RocksDB: data blocks and time in empty ranges and in ranges
with a key, with no filter, RocksDB's prefix Bloom filters, an index with first keys, and
blocksieve's range filters; cached and cold. Then seeks below prefixes of structured keys, with
prefix filters, too, and the size of range and prefix filters, and their cost for point lookups,
workloads and writes. Databases have eight sorted runs, which are never compacted. Keys are numbers,
text made of numbers, and the paths of installed packages. Prints targets beside the figures.)",
    .quick_help = "smaller databases of fewer key sets, within a minute or so",
};

Effort QuickEffort() {
  return {
      .sets = {kIntegers, kTenantTime, kPaths},
      .filter_sets = {kIntegers, kUsers, kTenantTime, kPaths},
      .keys = 240'000,
      .filter_keys = 240'000,
      .ranges = 2'000,
      .timed_ranges = 2'000,
      .cold_ranges = 200,
      .lookups = 5'000,
      .turns = 3,
      .lookup_turns = 15,
      .filter_turns = 3,
      .structured_keys = 100'000,
      .prefix_seeks = 1'000,
      .operations = 4'000,
      .cold_operations = 200,
      .workload_turns = 3,
  };
}

void Measure(Job& job) { RunExperiment(job.options.quick ? QuickEffort() : Effort{}, job); }

}  // namespace
}  // namespace blocksieve::bench::ranges

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunJob(ranges::kManual, argc, argv, ranges::Measure);
}
