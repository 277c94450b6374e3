// SPDX-License-Identifier: Apache-2.0
#include "bench/support/job.h"

#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <system_error>

#include "bench/support/inputs.h"
#include "bench/support/measure.h"
#include "blocksieve/sizing.h"

namespace blocksieve::bench {
namespace {

constexpr const char* kExitCodes =
    R"(Exit codes: 0 all measured; 1 something failed or gave a wrong answer; 2 wrong arguments; 128 + n
ended by signal n. A target that is missed is not a failure; with --quick none is shown.)";

constexpr const char* kUsualRows = R"(

Without --input or --rows the rows are ones that every Debian system has: the paths of all files of
the installed packages, each with the name of its package.)";

// CLI::Range lets NaN pass, and prints 1e-7 as 0.000000.
template <class T>
auto InRange(T low, T high) {
  return [low, high](const std::string& text) -> std::string {
    T value{};
    if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high &&
        (std::is_floating_point_v<T> || !text.starts_with('-'))) {
      return "";
    }
    return fmt::format("Value {} not in range {} to {}", text, low, high);
  };
}

void AddRowOptions(const JobManual& manual, CLI::App& app, JobOptions& options) {
  app.add_option("--input", options.input, "rows from a file of lines key TAB value; - is stdin")
      ->type_name("FILE")
      ->check([](const std::string& name) { return name == "-" ? "" : CLI::ExistingFile(name); });
  app.add_option("--rows", options.rows,
                 "this many synthetic rows: random keys of 16 bytes, values of 100")
      ->type_name("N")
      ->check(InRange(manual.min_rows, kMaxRows))
      ->excludes(app.get_option("--input"));
  app.add_option("--seed", options.seed, "seed of everything random (default 1)")
      ->type_name("S")
      ->check(InRange(uint64_t{0}, uint64_t{std::numeric_limits<uint32_t>::max()}));
  app.add_option("--db-dir", options.db_dir,
                 "where the databases are made, and removed again (default: below --out)")
      ->type_name("DIR");
}

// Exits after printing help or an error in the arguments.
JobOptions ParseJobOptions(const JobManual& manual, int argc, const char* const* argv) {
  JobOptions options;
  const bool reads_rows = manual.min_rows != 0;
  CLI::App app(manual.description + (reads_rows ? kUsualRows : ""),
               "bench/run " + manual.benchmark);
  app.footer(manual.examples + (manual.examples.empty() ? "" : "\n") + kExitCodes);
  app.get_formatter()->column_width(26);
  app.add_flag("--quick", options.quick, manual.quick_help);
  app.add_option("--out", options.out,
                 "directory for " + manual.benchmark + ".json (default build/bench-results)")
      ->type_name("DIR");
  if (reads_rows) AddRowOptions(manual, app, options);
  if (manual.takes_fpr) {
    app.add_option("--fpr", options.target_fpr, "target false-positive rate (default 0.01)")
        ->type_name("P")
        ->check(InRange(kMinTargetFpr, kMaxTargetFpr));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  return options;
}

}  // namespace

TempDir::TempDir(const std::filesystem::path& parent) {
  std::filesystem::create_directories(parent);
  std::string name = (parent / "bench.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    Fail("cannot create a directory in {}: {}", parent.string(), std::strerror(errno));
  }
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;  // nothing sensible is left to do
  std::filesystem::remove_all(path_, ignored);
}

int RunJob(const JobManual& manual, int argc, const char* const* argv,
           const std::function<void(Job&)>& measure) {
  return term::RunMain("bench/run", [&] {
    term::CatchInterrupts();
    const JobOptions options = ParseJobOptions(manual, argc, argv);
    const TempDir out(options.out);  // fails before the work and not after it
    const TempDir db_dir(options.db_dir.empty() ? options.out : options.db_dir);
    Results results(manual.benchmark);
    Progress progress;
    const Stopwatch stopwatch;
    Job job{options, db_dir.path(),
            SupportsDirectReads(db_dir.path()) ? "with direct I/O" : "from the page cache",
            progress, results};
    results.has_limits = !options.quick;
    measure(job);
    results.Write(options.out, stopwatch.Seconds());
  });
}

}  // namespace blocksieve::bench
