// levels: what filters let through if memory is spread over the levels of a tree. See kDescription,
// and experiment.h for what is done.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "bench/levels/experiment.h"
#include "bench/levels/json_report.h"
#include "bench/levels/report.h"
#include "bench/support/progress.h"
#include "bench/support/run_main.h"

namespace blocksieve::bench::levels {
namespace {

constexpr const char* kDescription =
    R"(Measures the data blocks that RocksDB reads in vain for absent keys, with filters of the same
rate on all levels, stock and blocksieve's, and with rates by level, in trees made by real
compactions: of size ratio 4 with static and of size ratio 10 with dynamic level sizes. Prints what
was to be reached beside each figure. No times are measured.)";

constexpr const char* kExamples = R"(Examples:
  bench/run levels --quick
  bench/run levels --out /tmp/r

Exit codes: 0 all measured; 1 something failed or gave a wrong answer; 2 wrong arguments; 128 + n
ended by signal n. What is missed is no failure.)";

struct Options {
  bool quick = false;
  std::filesystem::path out = "build/bench-results";
};

Options ParseCommandLine(int argc, const char* const* argv) {
  Options options;
  CLI::App app(kDescription, "bench/run levels");
  app.footer(kExamples);
  app.get_formatter()->column_width(26);
  app.add_flag("--quick", options.quick, "small trees, within two minutes");
  app.add_option("--out", options.out,
                 "directory for levels.json and levels.png (default build/bench-results)")
      ->type_name("DIR");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    throw Exit{app.exit(error) == 0 ? 0 : 2};
  }
  return options;
}

void RunJob(const Options& options) {
  const Effort quick{
      .flushes = 86, .keys_per_flush = 4'000, .lookups = 300'000, .bits = {8, kComparedBits, 12}};
  Progress progress;
  const Results results = RunExperiment(options.quick ? quick : Effort{}, progress);
  progress.Show("");
  PrintReport(results, WriteJson(results, options.out), stdout);
}

}  // namespace
}  // namespace blocksieve::bench::levels

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunMain([&] { levels::RunJob(levels::ParseCommandLine(argc, argv)); });
}
