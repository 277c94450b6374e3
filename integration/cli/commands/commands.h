#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace blocksieve::cli {

/// Does what the command line asked for. Throws Failure, UsageError, Interrupted.
using Action = std::function<void()>;

// Each adds its subcommand, with options, help and examples, to `app`. Parsing a command line that
// names it sets `*action`, which must outlive `app`; nothing is done before that is called.
void AddAdviseCommand(CLI::App* app, Action* action);
void AddApplyCommand(CLI::App* app, Action* action);
void AddCompletionCommand(CLI::App* app, Action* action);
void AddIndexCommand(CLI::App* app, Action* action);
void AddInspectCommand(CLI::App* app, Action* action);
void AddLoadCommand(CLI::App* app, Action* action);
void AddManualCommand(CLI::App* app, Action* action);
void AddRevertCommand(CLI::App* app, Action* action);
void AddRewriteCommand(CLI::App* app, Action* action);
void AddScanCommand(CLI::App* app, Action* action);
void AddSieveCommand(CLI::App* app, Action* action);
void AddSizeCommand(CLI::App* app, Action* action);
void AddVerifyCommand(CLI::App* app, Action* action);

}  // namespace blocksieve::cli
