// SPDX-License-Identifier: Apache-2.0
// skip: measures what skip indexes save in RocksDB. See kManual and experiment.h.

#include "bench/skip/experiment.h"

namespace blocksieve::bench::skip {
namespace {

const JobManual kManual = {
    .benchmark = "skip",
    .description =
        R"(Measures what skip indexes save in RocksDB: data blocks read by scans for one value and for windows
of a time in the key, compared with the fewest possible and with a full scan; and the cost of writing
an index.)",
    .quick_help = "end within 60 seconds; large inputs are truncated",
    .min_rows = 10'000,
};

// Within a minute.
const Effort kQuick = {.max_input_bytes = 16 << 20,
                       .queries = 20,
                       .write_columns = 1,
                       .write_rounds = 3,
                       .num_series = 1'000};

void Measure(Job& job) {
  const Effort effort = job.options.quick ? kQuick : Effort{};
  const bool is_dpkg = job.options.input.empty() && job.options.rows == 0;
  RunExperiment(ReadInput(job, effort.max_input_bytes), is_dpkg ? "package" : "value", effort, job);
}

}  // namespace
}  // namespace blocksieve::bench::skip

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunJob(skip::kManual, argc, argv, skip::Measure);
}
