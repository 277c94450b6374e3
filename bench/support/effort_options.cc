#include "bench/support/effort_options.h"

#include <CLI/CLI.hpp>

#include "bench/support/run_main.h"

namespace blocksieve::bench {

EffortOptions ParseEffortOptions(const EffortManual& manual, int argc, const char* const* argv) {
  EffortOptions options;
  CLI::App app(manual.description, manual.name);
  app.footer(
      R"(Exit codes: 0 all measured; 1 something failed or gave a wrong answer; 2 wrong arguments; 128 + n
ended by signal n. What is missed is no failure.)");
  app.get_formatter()->column_width(26);
  app.add_flag("--quick", options.quick, manual.quick_help);
  app.add_option("--out", options.out,
                 "directory for " + manual.files + " (default build/bench-results)")
      ->type_name("DIR");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    throw Exit{app.exit(error) == 0 ? 0 : 2};
  }
  return options;
}

}  // namespace blocksieve::bench
