// read_amp: what filters save in RocksDB, measured. See options.cc for the manual, experiment.h for
// the method.

#include "bench/read_amp/experiment.h"
#include "bench/read_amp/options.h"
#include "bench/support/files.h"
#include "bench/support/inputs.h"
#include "bench/support/job.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench::read_amp {
namespace {

// What ends within a minute even on a machine of a third of the speed of the one this was tried on,
// where a round takes 12 s.
constexpr InputLimits kQuickLimits = {.max_rows = 150'000, .max_bytes = 32 << 20};
constexpr double kQuickSeconds = 45;

Effort EffortFor(const RunOptions& options) {
  Effort effort;
  if (options.quick) {
    effort = {.rounds = 3,
              .lookups = 20'000,
              .max_cold_seconds = 0.25,
              .timed_warm_passes = 2,
              .no_new_round_after = kQuickSeconds};
  }
  if (options.repeat > 0) effort.rounds = static_cast<unsigned>(options.repeat);
  if (options.lookups > 0) effort.lookups = options.lookups;
  return effort;
}

Input LoadInput(const RunOptions& options) {
  const InputLimits limits = options.quick ? kQuickLimits : InputLimits{};
  if (!options.input.empty()) return LoadTsv(options.input, limits);
  if (options.rows == 0) return LoadDpkg(kDpkgInfoDir, limits);
  return MakeSynthetic(options.rows, options.value_bytes, options.seed, limits);
}

Results Measure(const RunOptions& options) {
  Progress progress;
  progress.Show("reading the input");
  const Input input = LoadInput(options);
  const TempDir db_dir(PrepareOutput(options));
  return RunExperiment(input, options.target_fpr, options.seed, EffortFor(options), db_dir.path(),
                       progress);
}

void Run(const RunOptions& options) { WriteJson(Measure(options), options.out); }

}  // namespace
}  // namespace blocksieve::bench::read_amp

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunMain([&] { read_amp::Run(read_amp::ParseCommandLine(argc, argv)); });
}
