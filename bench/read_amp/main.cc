// SPDX-License-Identifier: Apache-2.0
// read_amp: measures what filters save in RocksDB. See kManual, and RunExperiment for the method.

#include "bench/read_amp/contestants.h"

namespace blocksieve::bench::read_amp {
namespace {

const JobManual kManual = {
    .benchmark = "read_amp",
    .description =
        R"(Measures what filters save in RocksDB. Fills a database with the same data once for each filter
(none, stock Bloom, stock Ribbon, blocksieve), looks up present and absent keys in it, cold and
cached, and prints filter sizes, false-positive rates, data blocks read per lookup, all as counted
by RocksDB, and speeds.)",
    .quick_help = "end within 60 seconds; large inputs are truncated",
    .examples = R"(Examples:
  bench/run --quick                     real data of this machine, within a minute
  bench/run                             the same, more precisely, in some minutes
  bench/run --fpr 0.001 --out /tmp/r    another target FPR, results in another directory
  bench/run --rows 10000000 --db-dir /mnt/ssd
  zcat pairs.tsv.gz | bench/run --input -
)",
    .min_rows = kMinRows,
    .takes_fpr = true,
};

// Within a minute even on a machine a third as fast as the original one, where a round takes 10 s.
constexpr uint64_t kQuickInputBytes = 11 << 20;
constexpr Effort kQuick = {.rounds = 2,
                           .lookups = 20'000,
                           .max_cold_seconds = 0.15,
                           .timed_warm_passes = 2,
                           .no_new_round_after = 45};

void Measure(Job& job) {
  const JobOptions& options = job.options;
  const Input input = ReadInput(job, options.quick ? kQuickInputBytes : UINT64_MAX);
  RunExperiment(input, options.target_fpr, options.quick ? kQuick : Effort{}, job);
}

}  // namespace
}  // namespace blocksieve::bench::read_amp

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunJob(read_amp::kManual, argc, argv, read_amp::Measure);
}
