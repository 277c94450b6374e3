#include "bench/read_amp/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "bench/support/command_line.h"
#include "bench/support/inputs.h"
#include "blocksieve/sizing.h"

namespace blocksieve::bench::read_amp {
namespace {

const JobManual kManual = {
    .name = "bench/run",
    .description =
        R"(Measures what filters save in RocksDB. Fills a database several times with the same data,
once per filter set-up (none, stock Bloom, stock Ribbon, blocksieve), looks present and absent keys
up in it, cold and warm, and prints filter sizes, false-positive rates, data blocks read per lookup
and speeds, all but the times as counted by RocksDB itself.

Without --input or --rows the data is what every Debian system has: the paths of all files of
installed packages, each with the name of its package.)",
    .examples = R"(Examples:
  bench/run --quick                     real data of this machine, within a minute
  bench/run                             the same, more exactly, in some minutes
  bench/run --fpr 0.001 --out /tmp/r    another target rate, results elsewhere
  bench/run --rows 10000000 --value-bytes 400 --db-dir /mnt/ssd
  zcat pairs.tsv.gz | bench/run --input -

Exit codes: 0 all measured; 1 something failed or a lookup gave a wrong answer; 2 wrong arguments;
128 + n ended by signal n.)",
    .rows_help = "so many synthetic rows: uniformly random keys of 16 bytes",
    .min_rows = kMinRows,
    .json = "results.json",
};

// CLI::Range lets NaN pass, and would print the lower end as 0.000001.
std::string CheckTargetFpr(const std::string& text) {
  double value = 0;
  if (CLI::detail::lexical_cast(text, value) && value >= kMinTargetFpr && value <= kMaxTargetFpr) {
    return "";
  }
  return fmt::format("Value {} not in range {} to {}", text, kMinTargetFpr, kMaxTargetFpr);
}

}  // namespace

RunOptions ParseCommandLine(int argc, const char* const* argv) {
  RunOptions options;
  CLI::App app(kManual.description, kManual.name);
  app.footer(kManual.examples);
  AddJobOptions(kManual, app, options);
  app.get_option("--rows")->excludes(app.get_option("--input"));
  app.add_option("--value-bytes", options.value_bytes, "bytes per synthetic value (default 100)")
      ->type_name("B")
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 15))
      ->needs(app.get_option("--rows"));
  app.add_option("--fpr", options.target_fpr, "target false-positive rate (default 0.01)")
      ->type_name("P")
      ->check(CheckTargetFpr);
  app.add_option("--repeat", options.repeat,
                 "rounds (default 5; with --quick up to 3, as many as fit)")
      ->type_name("N")
      ->check(CLI::Range(1U, 1000U));
  app.add_option("--lookups", options.lookups,
                 "lookups per pass of absent and of present keys (default 100000)")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{1000}, uint64_t{100'000'000}))
      ->excludes(app.get_option("--quick"));
  ParseOrExit(app, argc, argv);
  return options;
}

}  // namespace blocksieve::bench::read_amp
