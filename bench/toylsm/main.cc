// toylsm_bench: measures read amplification in the toy LSM. See kManual and tree.h.

#include "bench/support/dataset.h"
#include "bench/support/inputs.h"
#include "bench/support/job.h"
#include "bench/toylsm/tree.h"

namespace blocksieve::bench::toy {
namespace {

const JobManual kManual = {
    .name = "bench/run toylsm",
    .description =
        R"(Measures read amplification in the toy LSM, by its own counters: data blocks read by lookups of
absent and of present keys with no filter, a filter per file and a filter per granule of blocks, and
by scans for a value with a skip index and without. Prints targets beside the figures.

Without --input or --rows the rows are ones that every Debian system has: the paths of all files of
the installed packages, each with the name of its package.)",
    .quick_help = "end within 60 seconds; large inputs are truncated",
    .files = "toylsm.json and plots",
    .examples = R"(Examples:
  bench/run toylsm --quick              real rows of this machine, within a minute
  bench/run toylsm --rows 1000000       synthetic rows of about 120 bytes instead
  bench/run toylsm --input pairs.tsv    key TAB value
)",
    .rows_help = "this many synthetic rows instead of real ones",
    .min_rows = 10'000,
    .has_one_source = true,
};

constexpr Effort kQuickEffort = {.lookups = 50'000, .queries = 30};

Dataset LoadRows(const JobOptions& options) {
  if (options.rows > 0) return MakeSyntheticDataset(options.rows, options.seed);
  return MakeRealDataset(LoadInput(options.input, options.quick ? 16 << 20 : 1 << 30),
                         options.input.empty() ? "package" : "value", options.seed);
}

int Main(int argc, const char* const* argv) {
  return RunJob("toylsm", kManual, argc, argv, [](Job& job) {
    job.progress.Show("reading the input");
    const Dataset dataset = LoadRows(job.options);
    job.results.SetFact("input", dataset.description);
    const Effort effort = job.options.quick ? kQuickEffort : Effort{};
    MeasureLookups(dataset, effort, job);
    MeasureScans(dataset, effort, job);
  });
}

}  // namespace
}  // namespace blocksieve::bench::toy

int main(int argc, char** argv) { return blocksieve::bench::toy::Main(argc, argv); }
