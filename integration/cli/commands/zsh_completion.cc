#include "integration/cli/commands/zsh_completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace blocksieve::cli {
namespace {

std::string Replace(std::string_view text, char what, std::string_view by) {
  std::string replaced;
  for (const char c : text) {
    if (c == what) {
      replaced += by;
    } else {
      replaced += c;
    }
  }
  return replaced;
}

std::string InQuotes(std::string_view text) { return "'" + Replace(text, '\'', "'\\''") + "'"; }

// In the texts of _arguments and _describe a colon ends a part; in brackets, so does a bracket.
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
      // A name that was given rules out the others of the same option.
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

}  // namespace

std::string ZshCompletion(const CommandEntry& root) {
  std::string text = fmt::format(
      "#compdef {0}\n# zsh completion of {0}, made by `{0} completion zsh`\n\n", root.path);
  for (const CommandEntry* const command : AllCommands(root)) text += Function(*command);
  return text + FunctionName(root) + " \"$@\"\n";
}

}  // namespace blocksieve::cli
