// skip: measures what skip indexes on values save in RocksDB. See kManual and experiment.h.

#include "bench/skip/dataset.h"
#include "bench/skip/experiment.h"
#include "bench/support/inputs.h"
#include "bench/support/job.h"

namespace blocksieve::bench::skip {
namespace {

const JobManual kManual = {
    .benchmark = "skip",
    .description =
        R"(Measures what skip indexes on values save in RocksDB: data blocks read by scans for one value,
compared with the fewest possible and with a full scan; the size of an index, and the cost of writing
it.

The rows are synthetic, and real ones that every Debian system has: the paths of all files of the
installed packages, each with the name of its package.)",
    .quick_help = "end within 60 seconds; large inputs are truncated",
    .examples = R"(Examples:
  bench/run skip --quick                real and synthetic rows, within a minute
  bench/run skip                        the same, more precisely, in some minutes
  bench/run skip --input pairs.tsv      key TAB value; columns: the value's first field, words of
                                        the key
)",
    .rows_help = "this many synthetic rows (default 1000000, with --quick 256000)",
    .min_rows = kScatteredValues,
};

// Within a minute.
const Effort kQuick = {.max_input_bytes = 16 << 20,
                       .synthetic_rows = 256'000,
                       .queries = 20,
                       .fpr_queries = 500,
                       .granule_rows = {kDefaultGranuleRows, 1'024},
                       .write_columns = 1,
                       .write_rounds = 3};

void Measure(Job& job) {
  Effort effort = job.options.quick ? kQuick : Effort{};
  if (job.options.rows > 0) effort.synthetic_rows = job.options.rows;
  job.progress.Show("reading the input");
  const Input input = LoadInput(job.options.input, effort.max_input_bytes);
  RunExperiment(input, job.options.input.empty() ? "package" : "value", effort, job);
}

}  // namespace
}  // namespace blocksieve::bench::skip

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunJob(skip::kManual, argc, argv, skip::Measure);
}
