// levels: what filters let through if memory is spread over the levels of a tree. See kManual,
// and experiment.h for what is done.

#include "bench/levels/experiment.h"
#include "bench/support/job.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench::levels {
namespace {

const JobManual kManual = {
    .name = "bench/run levels",
    .description =
        R"(Measures the data blocks that RocksDB reads in vain for absent keys, with filters of the same
rate on all levels, stock and blocksieve's, and with rates by level, in trees made by real
compactions: of size ratio 4 with static and of size ratio 10 with dynamic level sizes. Prints the
targets beside each figure. No times are measured.)",
    .quick_help = "small trees, within two minutes",
    .files = "levels.json and plots",
};

void RunJob(const JobOptions& options) {
  PrepareOutput(options);
  const Effort quick{
      .flushes = 86, .keys_per_flush = 4'000, .lookups = 300'000, .bits = {8, kComparedBits, 12}};
  Progress progress;
  WriteJson(RunExperiment(options.quick ? quick : Effort{}, progress), options.out);
}

}  // namespace
}  // namespace blocksieve::bench::levels

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunMain([&] { levels::RunJob(ParseJobOptions(levels::kManual, argc, argv)); });
}
