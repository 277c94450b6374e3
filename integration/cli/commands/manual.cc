#include <fmt/format.h>

#include <map>
#include <string_view>

#include "integration/cli/commands/command_tree.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/term/streams.h"

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

std::string Bold(std::string_view text) { return "\\fB" + EscapeForRoff(text) + "\\fR"; }
std::string Italic(std::string_view text) { return "\\fI" + EscapeForRoff(text) + "\\fR"; }

// Lines that begin with a blank are tables and examples and stay as they are; others are text. An
// empty line ends a paragraph.
std::string Body(const std::string& text) {
  std::string body;
  bool as_is = false;
  bool begins = false;
  for (const std::string& line : Split(text, '\n')) {
    if (line.empty()) {
      begins = true;
      continue;
    }
    if (as_is && !line.starts_with(' ')) body += ".fi\n.RE\n";
    if (begins) body += ".PP\n";
    if (!as_is && line.starts_with(' ')) body += ".RS 2\n.nf\n";
    as_is = line.starts_with(' ');
    begins = false;
    body += EscapeForRoff(as_is ? std::string_view(line).substr(2) : line) + "\n";
  }
  return as_is ? body + ".fi\n.RE\n" : body;
}

std::string OptionItem(const OptionEntry& option) {
  std::string head;
  for (const std::string& name : option.names) head += (head.empty() ? "" : ", ") + Bold(name);
  if (!option.value.empty()) head += (head.empty() ? "" : " ") + Italic(option.value);
  if (option.is_repeatable) head += " ...";
  if (option.is_required) head += " (required)";
  return ".TP\n" + head + "\n" + EscapeForRoff(option.description) + "\n";
}

std::string Synopsis(const CommandEntry& command) {
  std::string line = Bold(command.path) + " [" + Italic("OPTIONS") + "]";
  for (const OptionEntry& option : command.options) {
    if (!option.is_positional()) continue;
    line += " [" + Italic(option.value) + (option.is_repeatable ? " ..." : "") + "]";
  }
  if (!command.subcommands.empty()) line += " " + Italic("SUBCOMMAND");
  return line + "\n";
}

std::string Options(const CommandEntry& command) {
  std::string items;
  for (const OptionEntry& option : command.options) items += OptionItem(option);
  return items;
}

// Subcommands of subcommands have no options, so each is an item of the section.
std::string Section(const CommandEntry& command) {
  std::string text =
      ".SS " + EscapeForRoff(command.path) + "\n" + EscapeForRoff(command.description) + ".\n.PP\n";
  text += Synopsis(command) + Options(command);
  for (const CommandEntry& below : command.subcommands) {
    text += ".TP\n" + Synopsis(below) + EscapeForRoff(below.description) + "\n";
  }
  return text + ".PP\n" + Body(command.footer);
}

constexpr const char* kManualFooter =
    R"(Prints the help of all subcommands as a roff page. Installed packages include it: man blocksieve.

Examples:
  blocksieve manual | man -l -)";

std::string ManPage(const CommandEntry& root) {
  std::string text = fmt::format(
      ".TH BLOCKSIEVE 1 \"\" \"{} " BLOCKSIEVE_VERSION "\" \"User Commands\"\n", root.path);
  text += ".SH NAME\n" + root.path + " \\- " + EscapeForRoff(root.description) + "\n";
  text += ".SH SYNOPSIS\n" + Synopsis(root);
  text += ".SH OPTIONS\n" + Options(root);
  text += ".SH SUBCOMMANDS\n";
  for (const CommandEntry& command : root.subcommands) text += Section(command);
  text += ".SH ENVIRONMENT\n" + Body(kEnvironment);
  return text + ".SH EXAMPLES AND EXIT STATUS\n" + Body(root.footer);
}

}  // namespace

void AddManualCommand(CLI::App* app, Action* action) {
  SetAction(AddSubcommand(app, "manual", "Print the manual page", kManualFooter), action,
            [app] { term::WriteToStandardOutput(ManPage(DescribeCommand(*app))); });
}

}  // namespace blocksieve::cli
