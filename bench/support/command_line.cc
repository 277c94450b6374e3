#include "bench/support/command_line.h"

#include <CLI/CLI.hpp>

#include "bench/support/run_main.h"

namespace blocksieve::bench {

void ParseOrExit(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    throw Exit{app.exit(error) == 0 ? 0 : 2};
  }
}

}  // namespace blocksieve::bench
