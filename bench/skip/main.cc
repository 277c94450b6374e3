// skip: what skip indexes on values save in RocksDB, measured. See kManual for the manual, and
// experiment.h for what is done.

#include "bench/skip/experiment.h"
#include "bench/support/dataset.h"
#include "bench/support/files.h"
#include "bench/support/inputs.h"
#include "bench/support/job.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench::skip {
namespace {

const JobManual kManual = {
    .name = "bench/run skip",
    .description =
        R"(Measures what skip indexes on values save in RocksDB: data blocks read by scans for one value,
against the least possible and against a full scan; the time of asking an index; its size; and what
writing it costs. Prints the targets beside each figure.

The rows are synthetic ones and those that every Debian system has: the paths of all files of
installed packages, each with the name of its package.)",
    .quick_help = "end within 60 seconds; large inputs are cut short",
    .files = "skip.json and plots",
    .examples = R"(Examples:
  bench/run skip --quick                real and synthetic rows, within a minute
  bench/run skip                        the same, more exactly, in some minutes
  bench/run skip --input pairs.tsv      key TAB value; columns: the value's first field, words of
                                        the key
)",
    .rows_help = "this many synthetic rows (default 1000000, with --quick 256000)",
    .min_rows = kScatteredValues,
};

void Run(const JobOptions& options) {
  Effort effort = options.quick ? Effort::Quick() : Effort{};
  if (options.rows > 0) effort.synthetic_rows = options.rows;
  Progress progress;
  progress.Show("reading the input");
  const bool is_dpkg = options.input.empty();
  const Input input =
      is_dpkg ? LoadDpkg(kDpkgInfoDir, effort.limits) : LoadTsv(options.input, effort.limits);
  const TempDir db_dir(PrepareOutput(options));
  WriteJson(RunExperiment(input, is_dpkg ? "package" : "value", effort, options.seed, db_dir.path(),
                          progress),
            options.out);
}

}  // namespace
}  // namespace blocksieve::bench::skip

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunMain([&] { skip::Run(ParseJobOptions(skip::kManual, argc, argv)); });
}
