// toylsm_bench: measures read amplification in the toy LSM. See kManual.

#include "bench/support/inputs.h"
#include "bench/support/job.h"
#include "bench/toylsm/lookups.h"

namespace blocksieve::bench::toy {
namespace {

const JobManual kManual = {
    .benchmark = "toylsm",
    .description =
        R"(Measures read amplification in the toy LSM, by its own counters: data blocks read by lookups of
absent and of present keys with no filter, a filter per file and a filter per granule of blocks.
Prints targets beside the figures.

Without --input or --rows the rows are ones that every Debian system has: the paths of all files of
the installed packages, each with the name of its package.)",
    .quick_help = "end within 60 seconds; large inputs are truncated",
    .examples = R"(Examples:
  bench/run toylsm --quick              real rows of this machine, within a minute
  bench/run toylsm --rows 1000000       synthetic rows instead
  bench/run toylsm --input pairs.tsv    key TAB value
)",
    .rows_help = "this many synthetic rows: random keys of 16 bytes, values of 100",
    .min_rows = 10'000,
    .has_one_source = true,
};

void Measure(Job& job) {
  const bool quick = job.options.quick;
  const Input input = ReadInput(job, quick ? 8 << 20 : 1 << 30);
  job.results.SetFact("input", input.description);
  MeasureLookups(input.rows, quick ? 50'000 : 200'000, job);
}

}  // namespace
}  // namespace blocksieve::bench::toy

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunJob(toy::kManual, argc, argv, toy::Measure);
}
