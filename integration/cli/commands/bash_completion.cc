#include "integration/cli/commands/bash_completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace blocksieve::cli {
namespace {

// Names and values of options have no blanks, quotes or dollars, and so need no quoting.

// $command becomes the subcommand that the words before the cursor lead to. Subcommands of
// subcommands, as those of `sieve`, may follow each other.
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
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "\"" : " | \"") + word + "\"";
  return text;
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

}  // namespace

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

}  // namespace blocksieve::cli
