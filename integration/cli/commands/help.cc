// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "integration/cli/commands/options.h"

// The command line as the parser knows it. Help and the manual page come from it, so they cannot be
// out of date.

namespace blocksieve::cli {
namespace {

// CLI11's own help, but later versions reflow the tables and examples in footers, and the options
// that one excludes are in no order.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* command, std::string name,
                        CLI::AppFormatMode mode) const override {
    return make_description(command) + make_usage(command, std::move(name)) +
           make_positionals(command) + make_groups(command, mode) +
           make_subcommands(command, mode) + "\n" + command->get_footer() + "\n";
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = option->get_type_name();
    if (!text.empty()) text.insert(0, " ");
    if (option->get_items_expected_max() > 1) text += " ...";
    return text + (option->get_required() ? " REQUIRED" : "");
  }
};

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
  const std::string name = root.get_name();
  const auto help = [](const CLI::App& command, const std::string& path) {
    return Body(HelpFormatter().make_help(&command, path, CLI::AppFormatMode::Normal));
  };
  std::string text =
      fmt::format(".TH BLOCKSIEVE 1 \"\" \"{} " BLOCKSIEVE_VERSION "\" \"User Commands\"\n", name);
  text += ".SH NAME\n" + name + " \\- " + EscapeForRoff(root.get_description()) + "\n";
  text += ".SH SYNOPSIS\n" + help(root, name) + ".SH SUBCOMMANDS\n";
  for (const CLI::App* const command : root.get_subcommands({})) {
    const std::string path = name + " " + command->get_name();
    text += ".SS " + EscapeForRoff(path) + "\n" + help(*command, path);
  }
  return text + ".SH ENVIRONMENT\n" + Body(kEnvironment);
}

}  // namespace

void SetHelpFormat(CLI::App* app) { app->formatter(std::make_shared<HelpFormatter>()); }

void AddManualCommand(CLI::App* app, Action* action) {
  AddSubcommand(app, action, "manual", "Print the manual page", kManualFooter,
                [app] { term::WriteToStandardOutput(ManPage(*app)); });
}

}  // namespace blocksieve::cli
