#include <map>

#include "integration/cli/commands/command_tree.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

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
  for (const CLI::App* const command : SubcommandsOf(root)) {
    text += ".SS " + EscapeForRoff(PathOf(*command)) + "\n" + Body(HelpText(*command));
  }
  return text + ".SH ENVIRONMENT\n" + Body(kEnvironment);
}

}  // namespace

void AddManualCommand(CLI::App* app, Action* action) {
  SetAction(AddSubcommand(app, "manual", "Print the manual page", kManualFooter), action,
            [app] { term::WriteToStandardOutput(ManPage(*app)); });
}

}  // namespace blocksieve::cli
