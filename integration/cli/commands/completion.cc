#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "integration/cli/commands/command_tree.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/term/streams.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kCompletionFooter =
    R"(The script is made from the options that the command line is parsed with. Installed packages have it
in place already.

Examples:
  blocksieve completion bash >~/.local/share/bash-completion/completions/blocksieve
  blocksieve completion zsh >~/.zfunc/_blocksieve    with fpath+=~/.zfunc before compinit)";

// The names and values of options have no blanks, quotes or dollars, so they need no quoting.

// $command becomes the subcommand that the words before the cursor lead to. Subcommands of a
// subcommand, like those of `sieve`, may follow each other.
constexpr const char* kBegin = R"(# bash completion of {0}, made by `{0} completion bash`

_{0}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  if [[ $word == "=" ]]; then
    word=
  elif [[ $previous == "=" ]]; then
    previous=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  local command={0} i at
  for ((i = 1; i < COMP_CWORD; ++i)); do
    for at in "$command" "${{command% *}}"; do
      [[ $at == "$command" || $at == *" "* ]] || continue
      case "$at ${{COMP_WORDS[i]}}" in
        {1})
          command="$at ${{COMP_WORDS[i]}}"
          break
          ;;
      esac
    done
  done
  COMPREPLY=()
  case "$command $previous" in
)";

constexpr const char* kMiddle = R"(  esac
  case "$command" in
)";

constexpr const char* kEnd = R"(  esac
}}
complete -F _{0} {0}
)";

constexpr const char* kReply = "mapfile -t COMPREPLY < <(compgen {} -- \"$word\")";

std::string JoinQuoted(const std::vector<std::string>& words) {
  return fmt::format("\"{}\"", fmt::join(words, "\" | \""));
}

// What follows an option that takes a value.
std::string ValueReply(const OptionEntry& option) {
  switch (KindOfValue(option)) {
    case ValueKind::kDirectory:
      return "compopt -o filenames; " + fmt::format(kReply, "-d");
    case ValueKind::kFile:
      return "compopt -o filenames; " + fmt::format(kReply, "-f");
    case ValueKind::kWords:
      return fmt::format(kReply, fmt::format("-W \"{}\"", fmt::join(WordsOfValue(option), " ")));
    case ValueKind::kNone:
    case ValueKind::kOther:
      break;
  }
  return ":";  // nothing to offer, not even options
}

std::string OptionCases(const CommandEntry& command) {
  std::string text;
  for (const OptionEntry& option : command.options) {
    if (option.is_positional() || option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) patterns.push_back(command.path + " " + name);
    text += fmt::format("    {}) {}; return ;;\n", JoinQuoted(patterns), ValueReply(option));
  }
  return text;
}

std::string WordsCase(const CommandEntry& command) {
  std::vector<std::string> options;
  std::vector<std::string> words;
  bool takes_file = false;
  for (const OptionEntry& option : command.options) {
    options.insert(options.end(), option.names.begin(), option.names.end());
    if (!option.is_positional()) continue;
    takes_file |= KindOfValue(option) == ValueKind::kFile;
    if (KindOfValue(option) == ValueKind::kWords) words = WordsOfValue(option);
  }
  for (const CommandEntry& below : command.subcommands) words.push_back(below.name());
  const std::string other =
      takes_file ? "compopt -o filenames; " + fmt::format(kReply, "-f")
                 : fmt::format(kReply, fmt::format("-W \"{}\"", fmt::join(words, " ")));
  return fmt::format(
      "    \"{}\")\n      if [[ $word == -* ]]; then\n        {}\n      else\n        {}\n"
      "      fi\n      ;;\n",
      command.path, fmt::format(kReply, fmt::format("-W \"{}\"", fmt::join(options, " "))), other);
}

// For bash from version 4.4 on.
std::string BashCompletion(const CommandEntry& root) {
  const std::vector<const CommandEntry*> commands = AllCommands(root);
  std::vector<std::string> subcommands;
  std::string option_cases;
  std::string word_cases;
  for (const CommandEntry* const command : commands) {
    if (command != &root) subcommands.push_back(command->path);
    option_cases += OptionCases(*command);
    word_cases += WordsCase(*command);
  }
  return fmt::format(kBegin, root.path, JoinQuoted(subcommands)) + option_cases + kMiddle +
         word_cases + fmt::format(kEnd, root.path);
}

std::string Replace(std::string text, char what, std::string_view by) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
    text.replace(at, 1, by);
  }
  return text;
}

std::string InQuotes(const std::string& text) { return "'" + Replace(text, '\'', "'\\''") + "'"; }

// In the specifications of _arguments and _describe a colon ends a part; in brackets, so does a
// bracket.
std::string Escape(std::string text) {
  for (const char special : {'\\', ':', '[', ']'}) {
    text = Replace(text, special, std::string("\\") + special);
  }
  return text;
}

// ":message:action"
std::string ValueSpec(const OptionEntry& option) {
  const std::string message = ":" + Escape(option.value) + ":";
  switch (KindOfValue(option)) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kDirectory:
      return message + "_directories";
    case ValueKind::kFile:
      return message + "_files";
    case ValueKind::kWords:
      return message + fmt::format("({})", fmt::join(WordsOfValue(option), " "));
    case ValueKind::kOther:
      break;
  }
  return message + " ";  // the message alone
}

std::string ArgumentSpecs(const CommandEntry& command) {
  std::string specs;
  for (const OptionEntry& option : command.options) {
    const std::string repeats = option.is_repeatable ? "*" : "";
    if (option.is_positional()) {
      specs += " \\\n    " + InQuotes(repeats + ValueSpec(option));
      continue;
    }
    for (const std::string& name : option.names) {
      // Once a name was given, the other names of the same option are not offered.
      const std::string excluded =
          option.is_repeatable ? "" : fmt::format("({})", fmt::join(option.names, " "));
      // A long option takes its value after a blank or "=".
      const bool may_have_sign = !option.value.empty() && name.starts_with("--");
      specs += " \\\n    " + InQuotes(fmt::format("{}{}{}{}[{}]{}", excluded, repeats, name,
                                                  may_have_sign ? "=" : "",
                                                  Escape(option.description), ValueSpec(option)));
    }
  }
  return specs;
}

std::string FunctionName(const CommandEntry& command) {
  return "_" + Replace(command.path, ' ', "_");
}

std::string Function(const CommandEntry& command) {
  const std::string name = FunctionName(command);
  if (command.subcommands.empty()) {
    return fmt::format("{}() {{\n  _arguments{}\n}}\n\n", name, ArgumentSpecs(command));
  }
  std::string described;
  for (const CommandEntry& below : command.subcommands) {
    described += "\n        " + InQuotes(Escape(below.name()) + ":" + below.description);
  }
  return fmt::format(
      "{0}() {{\n"
      "  local curcontext=$curcontext state line\n"
      "  typeset -A opt_args\n"
      "  _arguments -C{1} \\\n    ': :->command' '*:: :->rest'\n"
      "  case $state in\n"
      "    command)\n"
      "      local -a commands=({2})\n"
      "      _describe command commands\n"
      "      ;;\n"
      "    rest)\n"
      "      (( $+functions[{0}_$line[1]] )) && {0}_$line[1]\n"
      "      ;;\n"
      "  esac\n"
      "}}\n\n",
      name, ArgumentSpecs(command), described);
}

std::string ZshCompletion(const CommandEntry& root) {
  std::string text = fmt::format(
      "#compdef {0}\n# zsh completion of {0}, made by `{0} completion zsh`\n\n", root.path);
  for (const CommandEntry* const command : AllCommands(root)) text += Function(*command);
  return text + FunctionName(root) + " \"$@\"\n";
}

}  // namespace

void AddCompletionCommand(CLI::App* app, Action* action) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* const command =
      AddSubcommand(app, "completion", "Print a script with which a shell completes this command",
                    kCompletionFooter);
  AddOption(command, shell.get(), {"bash|zsh", "", "the shell", OneOf("bash|zsh"), kRequired});
  SetAction(command, action, [app, shell] {
    const CommandEntry root = DescribeCommand(*app);
    term::WriteToStandardOutput(*shell == "bash" ? BashCompletion(root) : ZshCompletion(root));
  });
}

}  // namespace blocksieve::cli
