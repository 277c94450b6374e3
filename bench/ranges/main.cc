// SPDX-License-Identifier: Apache-2.0
// ranges: what range and prefix filters save in RocksDB, and what they cost. See kManual.

#include "bench/ranges/experiment.h"

namespace blocksieve::bench::ranges {
namespace {

const JobManual kManual = {
    .benchmark = "ranges",
    .description =
        R"(Measures seeks with an upper bound in RocksDB: data blocks and time in empty ranges of integers and
below prefixes of structured keys, with no filter, RocksDB's prefix Bloom filters, an index with first
keys, and blocksieve's range and prefix filters; the size of these filters, and their cost for point
lookups, writes and a workload of short scans. Databases have eight sorted runs, which are never
compacted. Keys are numbers, text made of numbers, and the paths of installed packages.)",
    .quick_help = "smaller databases, within a minute or so",
};

constexpr Effort kQuick = {.keys = 240'000,
                           .structured_keys = 100'000,
                           .seeks = 1'000,
                           .lookups = 5'000,
                           .turns = 3,
                           .lookup_turns = 15,
                           .filter_turns = 3,
                           .operations = 4'000,
                           .cold_operations = 200};

void Measure(Job& job) { RunExperiment(job.options.quick ? kQuick : Effort{}, job); }

}  // namespace
}  // namespace blocksieve::bench::ranges

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunJob(ranges::kManual, argc, argv, ranges::Measure);
}
