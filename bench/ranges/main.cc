// ranges: what filters of ranges save in RocksDB, and what they cost. See kManual for the manual,
// and experiment.h for what is done.

#include "bench/ranges/experiment.h"
#include "bench/ranges/key_sets.h"
#include "bench/support/job.h"

namespace blocksieve::bench::ranges {
namespace {

const JobManual kManual = {
    .name = "bench/run ranges",
    .description =
        R"(Measures seeks with an upper bound in RocksDB: data blocks and time in ranges that hold no key and in
such that do, with no filter, stock Bloom filters of prefixes, an index with first keys, and
blocksieve's filters of ranges; cached and cold. Then what these filters take, and what they cost
point lookups, workloads and writers. Databases have eight sorted runs, which nothing compacts. Keys
are numbers, text made of numbers, and the paths of installed packages. Prints the targets beside
each figure.)",
    .quick_help = "smaller databases of fewer sets of keys, within a minute or so",
    .files = "ranges.json and plots",
};

Effort QuickEffort() {
  return {
      .sets = {kIntegers, kTenantTime, kPaths},
      .filter_sets = {kIntegers, kUsers, kTenantTime, kPaths},
      .keys = 240'000,
      .ranges = 4'000,
      .timed_ranges = 2'000,
      .cold_ranges = 200,
      .lookups = 5'000,
      .turns = 5,
      .filter_turns = 3,
      .operations = 4'000,
      .cold_operations = 200,
      .workload_turns = 3,
  };
}

int Main(int argc, const char* const* argv) {
  const auto parse = [&] { return ParseJobOptions(kManual, argc, argv); };
  return RunJob("ranges", parse,
                [](Job& job) { RunExperiment(job.options.quick ? QuickEffort() : Effort{}, job); });
}

}  // namespace
}  // namespace blocksieve::bench::ranges

int main(int argc, char** argv) { return blocksieve::bench::ranges::Main(argc, argv); }
