#include <CLI/CLI.hpp>

#include "integration/cli/commands/command_tree.h"
#include "integration/cli/commands/commands.h"
#include "integration/cli/commands/man_page.h"
#include "integration/cli/term/streams.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kDescription = "Print the manual page";

constexpr const char* kFooter =
    R"(It has the help of all subcommands. Installed packages have it in place: man blocksieve.

Examples:
  blocksieve manual | man -l -)";

}  // namespace

void AddManualCommand(CLI::App* app, Action* action) {
  CLI::App* const command = app->add_subcommand("manual", kDescription);
  command->footer(kFooter);
  command->callback([app, action] {
    *action = [app] {
      term::Output output;
      output.Write(ManPage(DescribeCommand(*app), BLOCKSIEVE_VERSION));
      output.Flush();
    };
  });
}

}  // namespace blocksieve::cli
