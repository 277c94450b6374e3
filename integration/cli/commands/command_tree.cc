// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>

#include "integration/cli/commands/options.h"
#include "integration/cli/term/terminal.h"

// The command line as the parser knows it. Help and the manual page come from it, so they cannot be
// out of date.

namespace blocksieve::cli {
namespace {

// With dashes; none for a positional argument.
std::vector<std::string> ListNames(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

// "N", "DIR", "text|json", "FILE"; empty for a flag.
std::string DescribeValue(const CLI::Option& option) {
  return option.get_positional() ? option.get_name(/*positional=*/true) : option.get_type_name();
}

bool IsRepeatable(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

// "blocksieve sieve push"
std::string FullPath(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return (parent == nullptr ? "" : FullPath(*parent) + " ") + command.get_name();
}

std::string Usage(const CLI::App& command) {
  std::string line = fmt::format("Usage: {} [OPTIONS]", FullPath(command));
  for (const CLI::Option* const option : command.get_options()) {
    if (!option->get_positional()) continue;
    const std::string value = DescribeValue(*option) + (IsRepeatable(*option) ? "..." : "");
    line += option->get_required() ? " " + value : " [" + value + "]";
  }
  return line + (ListSubcommands(command).empty() ? "\n" : " SUBCOMMAND\n");
}

// Two columns; a name too long for the first gets a line of its own.
std::string Item(const std::string& name, const std::string& description) {
  constexpr size_t kWidth = 28;
  const std::string separator = name.size() < kWidth ? "" : fmt::format("\n  {:{}}", "", kWidth);
  return fmt::format("  {:{}}{}{}\n", name, kWidth, separator, description);
}

std::string HelpOfOption(const CLI::Option& option) {
  const std::string value = DescribeValue(option);
  std::string name = fmt::format("{}", fmt::join(ListNames(option), ", "));
  if (!value.empty()) name += (name.empty() ? "" : " ") + value;
  if (IsRepeatable(option)) name += " ...";
  if (option.get_required()) name += " REQUIRED";
  return Item(name, option.get_description());
}

std::string Group(const char* title, const std::string& items) {
  return items.empty() ? "" : fmt::format("\n{}:\n{}", title, items);
}

constexpr const char* kEnvironment =
    R"help(  BLOCKSIEVE_KERNEL   the instruction set for building and probing filters: scalar, avx2, avx512 or
                      neon. If it is not set, or not supported by the processor, the fastest
                      supported one is used. Results do not depend on it.)help";

// Escapes roff requests, and characters that roff would replace by others outside ASCII.
std::string EscapeForRoff(std::string_view text) {
  static const std::map<char, std::string_view> kEscapes = {
      {'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"}, {'`', "\\(ga"},
      {'^', "\\(ha"}, {'~', "\\(ti"}, {'"', "\\(dq"}};
  std::string escaped = text.starts_with('.') ? "\\&" : "";
  for (const char& c : text) {
    const auto found = kEscapes.find(c);
    escaped += found == kEscapes.end() ? std::string_view(&c, 1) : found->second;
  }
  return escaped;
}

// The text as it is.
std::string Body(const std::string& text) {
  std::string body = ".nf\n";
  for (const std::string& line : CLI::detail::split(text, '\n')) body += EscapeForRoff(line) + "\n";
  return body + ".fi\n";
}

constexpr const char* kManualFooter =
    R"(Prints the help of all subcommands as a roff page. Installed packages include it: man blocksieve.

Examples:
  blocksieve manual | man -l -)";

std::string ManPage(const CLI::App& root) {
  std::string text = fmt::format(
      ".TH BLOCKSIEVE 1 \"\" \"{} " BLOCKSIEVE_VERSION "\" \"User Commands\"\n", root.get_name());
  text += ".SH NAME\n" + root.get_name() + " \\- " + EscapeForRoff(root.get_description()) + "\n";
  text += ".SH SYNOPSIS\n" + Body(HelpText(root)) + ".SH SUBCOMMANDS\n";
  for (const CLI::App* const command : ListSubcommands(root)) {
    text += ".SS " + EscapeForRoff(FullPath(*command)) + "\n" + Body(HelpText(*command));
  }
  return text + ".SH ENVIRONMENT\n" + Body(kEnvironment);
}

}  // namespace

std::vector<const CLI::App*> ListSubcommands(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* below) { return !below->get_group().empty(); });
}

std::string HelpText(const CLI::App& command) {
  std::string arguments;
  std::string options;
  std::string subcommands;
  for (const CLI::Option* const option : command.get_options()) {
    (option->get_positional() ? arguments : options) += HelpOfOption(*option);
  }
  for (const CLI::App* const below : ListSubcommands(command)) {
    subcommands += Item(below->get_name(), below->get_description());
  }
  return command.get_description() + "\n" + Usage(command) + Group("Arguments", arguments) +
         Group("Options", options) + Group("Subcommands", subcommands) + "\n" +
         command.get_footer() + "\n";
}

void AddManualCommand(CLI::App* app, Action* action) {
  AddSubcommand(app, action, "manual", "Print the manual page", kManualFooter,
                [app] { term::WriteToStandardOutput(ManPage(*app)); });
}

}  // namespace blocksieve::cli
