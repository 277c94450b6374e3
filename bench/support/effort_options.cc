#include "bench/support/effort_options.h"

#include <CLI/CLI.hpp>

#include "bench/support/command_line.h"

namespace blocksieve::bench {

EffortOptions ParseEffortOptions(const EffortManual& manual, int argc, const char* const* argv) {
  EffortOptions options;
  CLI::App app(manual.description, manual.name);
  app.footer(kExitCodes);
  app.get_formatter()->column_width(26);
  app.add_flag("--quick", options.quick, manual.quick_help);
  app.add_option("--out", options.out,
                 "directory for " + manual.files + " (default build/bench-results)")
      ->type_name("DIR");
  ParseOrExit(app, argc, argv);
  return options;
}

}  // namespace blocksieve::bench
