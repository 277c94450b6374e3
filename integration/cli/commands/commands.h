#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace blocksieve::cli {

/// Runs a parsed command line. Throws Failure, UsageError, Interrupted.
using Action = std::function<void()>;

/// Adds a subcommand, with options, help and examples, to `app`. Parsing a command line that names
/// it sets `*action`, which must outlive `app` and runs it.
using AddCommand = void(CLI::App* app, Action* action);
AddCommand AddAdviseCommand;
AddCommand AddApplyCommand;
AddCommand AddCheckCommand;
AddCommand AddCompletionCommand;
AddCommand AddIndexCommand;
AddCommand AddInspectCommand;
AddCommand AddLoadCommand;
AddCommand AddManualCommand;
AddCommand AddRevertCommand;
AddCommand AddRewriteCommand;
AddCommand AddScanCommand;
AddCommand AddSieveCommand;
AddCommand AddSizeCommand;
AddCommand AddVerifyCommand;

/// All subcommands in the order of the help. A new one needs a file with its function, a
/// declaration above, and an entry here.
inline constexpr AddCommand* kCommands[] = {
    AddLoadCommand,   AddScanCommand,  AddInspectCommand,    AddVerifyCommand, AddCheckCommand,
    AddAdviseCommand, AddApplyCommand, AddRewriteCommand,    AddRevertCommand, AddIndexCommand,
    AddSieveCommand,  AddSizeCommand,  AddCompletionCommand, AddManualCommand,
};

}  // namespace blocksieve::cli
