#include "bench/support/job_options.h"

#include <CLI/CLI.hpp>
#include <limits>
#include <system_error>

#include "bench/support/command_line.h"
#include "bench/support/failure.h"
#include "bench/support/inputs.h"

namespace blocksieve::bench {

void AddJobOptions(const JobManual& manual, CLI::App& app, JobOptions& options) {
  app.get_formatter()->column_width(26);
  app.add_option("--input", options.input, "rows from a file of lines key TAB value; - is stdin")
      ->type_name("FILE")
      ->check([](const std::string& name) { return name == "-" ? "" : CLI::ExistingFile(name); });
  app.add_option("--rows", options.rows, manual.rows_help)
      ->type_name("N")
      ->check(CLI::Range(manual.min_rows, kMaxRows));
  app.add_option("--seed", options.seed, "of everything random (default 1)")
      ->type_name("S")
      ->check(CLI::Range(uint64_t{0}, uint64_t{std::numeric_limits<uint32_t>::max()}));
  app.add_flag("--quick", options.quick, "end within 60 seconds; large inputs are cut short");
  app.add_option("--out", options.out,
                 "directory for " + manual.json + " (default build/bench-results)")
      ->type_name("DIR");
  app.add_option("--db-dir", options.db_dir,
                 "where the databases are made, and removed again (default: below --out)")
      ->type_name("DIR");
}

JobOptions ParseJobOptions(const JobManual& manual, int argc, const char* const* argv) {
  JobOptions options;
  CLI::App app(manual.description, manual.name);
  app.footer(manual.examples + "\n" + kExitCodes);
  AddJobOptions(manual, app, options);
  ParseOrExit(app, argc, argv);
  return options;
}

std::filesystem::path PrepareOutput(const JobOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) Fail("cannot create --out {}: {}", options.out.string(), error.message());
  return options.db_dir.empty() ? options.out : options.db_dir;
}

}  // namespace blocksieve::bench
