#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "integration/cli/commands/bash_completion.h"
#include "integration/cli/commands/command_tree.h"
#include "integration/cli/commands/commands.h"
#include "integration/cli/commands/zsh_completion.h"
#include "integration/cli/term/streams.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kDescription = "Print what teaches a shell to complete this command";

constexpr const char* kFooter =
    R"(It is made of the same options that the command line is parsed by. Installed packages have it in
place already.

Examples:
  blocksieve completion bash >~/.local/share/bash-completion/completions/blocksieve
  blocksieve completion zsh >~/.zfunc/_blocksieve    with fpath+=~/.zfunc before compinit)";

}  // namespace

void AddCompletionCommand(CLI::App* app, Action* action) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* const command = app->add_subcommand("completion", kDescription);
  command->footer(kFooter);
  command->add_option("bash|zsh", *shell, "the shell")
      ->type_name("")
      ->required()
      ->check([](const std::string& name) {
        if (name == "bash" || name == "zsh") return std::string();
        return "'" + name + "' is unknown; allowed are bash and zsh";
      });
  command->callback([app, shell, action] {
    *action = [app, shell] {
      const CommandEntry root = DescribeCommand(*app);
      term::Output output;
      output.Write(*shell == "bash" ? BashCompletion(root) : ZshCompletion(root));
      output.Flush();
    };
  });
}

}  // namespace blocksieve::cli
