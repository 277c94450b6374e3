#include "bench/read_amp/options.h"

#include "bench/support/inputs.h"
#include "blocksieve/sizing.h"

namespace blocksieve::bench::read_amp {
namespace {

const JobManual kManual = {
    .name = "bench/run",
    .description =
        R"(Measures what filters save in RocksDB. Fills a database several times with the same data,
once per set of filters (none, stock Bloom, stock Ribbon, blocksieve), looks present and absent keys
up in it, cold and warm, and prints filter sizes, false-positive rates, data blocks read per lookup
and speeds, all but the times as counted by RocksDB itself.

Without --input or --rows the data is what every Debian system has: the paths of all files of
installed packages, each with the name of its package.)",
    .quick_help = "end within 60 seconds; large inputs are cut short",
    .files = "results.json",
    .examples = R"(Examples:
  bench/run --quick                     real data of this machine, within a minute
  bench/run                             the same, more exactly, in some minutes
  bench/run --fpr 0.001 --out /tmp/r    another target rate, results elsewhere
  bench/run --rows 10000000 --value-bytes 400 --db-dir /mnt/ssd
  zcat pairs.tsv.gz | bench/run --input -
)",
    .rows_help = "this many synthetic rows: uniformly random keys of 16 bytes",
    .min_rows = kMinRows,
    .has_one_source = true,
};

}  // namespace

RunOptions ParseCommandLine(int argc, const char* const* argv) {
  RunOptions options;
  static_cast<JobOptions&>(options) = ParseJobOptions(
      kManual, argc, argv,
      {{"--value-bytes", "B", "bytes per synthetic value (default 100)", &options.value_bytes, 0,
        1 << 15, "--rows"},
       {"--fpr", "P", "target false-positive rate (default 0.01)", &options.target_fpr,
        kMinTargetFpr, kMaxTargetFpr},
       {"--repeat", "N", "rounds (default 5; with --quick up to 3, as many as fit)",
        &options.repeat, 1, 1000},
       {"--lookups", "N", "lookups per pass of absent and of present keys (default 100000)",
        &options.lookups, 1000, 100'000'000, "", "--quick"}});
  return options;
}

}  // namespace blocksieve::bench::read_amp
