#include "bench/read_amp/options.h"

#include <string>

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
  static_cast<JobOptions&>(options) =
      ParseJobOptions(kManual, argc, argv,
                      {{.name = "--value-bytes",
                        .placeholder = "B",
                        .help = "bytes per synthetic value (default 100)",
                        .value = &options.value_bytes,
                        .low = 0,
                        .high = 1 << 15,
                        .needs = "--rows"},
                       {.name = "--fpr",
                        .placeholder = "P",
                        .help = "target false-positive rate (default 0.01)",
                        .value = &options.target_fpr,
                        .low = kMinTargetFpr,
                        .high = kMaxTargetFpr},
                       {.name = "--repeat",
                        .placeholder = "N",
                        .help = "rounds (default 5; with --quick up to 3, as many as fit)",
                        .value = &options.repeat,
                        .low = 1,
                        .high = 1000},
                       {.name = "--lookups",
                        .placeholder = "N",
                        .help = "lookups per pass of absent and of present keys (default 100000)",
                        .value = &options.lookups,
                        .low = 1000,
                        .high = 100'000'000,
                        .excludes = "--quick"}});
  return options;
}

}  // namespace blocksieve::bench::read_amp
