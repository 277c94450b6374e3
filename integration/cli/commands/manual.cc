#include <fmt/format.h>

#include <map>

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
  for (const std::string& line : CLI::detail::split(text, '\n')) {
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

std::string OptionItem(const CLI::Option& option) {
  const std::string value = ValueOf(option);
  std::string head;
  for (const std::string& name : NamesOf(option)) head += (head.empty() ? "" : ", ") + Bold(name);
  if (!value.empty()) head += (head.empty() ? "" : " ") + Italic(value);
  if (IsRepeatable(option)) head += " ...";
  if (option.get_required()) head += " (required)";
  return ".TP\n" + head + "\n" + EscapeForRoff(option.get_description()) + "\n";
}

std::string Synopsis(const CLI::App& command) {
  std::string line = Bold(PathOf(command)) + " [" + Italic("OPTIONS") + "]";
  for (const CLI::Option* const option : command.get_options()) {
    if (!option->get_positional()) continue;
    line += " [" + Italic(ValueOf(*option)) + (IsRepeatable(*option) ? " ..." : "") + "]";
  }
  if (!SubcommandsOf(command).empty()) line += " " + Italic("SUBCOMMAND");
  return line + "\n";
}

std::string Options(const CLI::App& command) {
  std::string items;
  for (const CLI::Option* const option : command.get_options()) items += OptionItem(*option);
  return items;
}

// Subcommands of subcommands have no options, so each is an item of the section.
std::string Section(const CLI::App& command) {
  std::string text = ".SS " + EscapeForRoff(PathOf(command)) + "\n" +
                     EscapeForRoff(command.get_description()) + ".\n.PP\n";
  text += Synopsis(command) + Options(command);
  for (const CLI::App* const below : SubcommandsOf(command)) {
    text += ".TP\n" + Synopsis(*below) + EscapeForRoff(below->get_description()) + "\n";
  }
  return text + ".PP\n" + Body(command.get_footer());
}

constexpr const char* kManualFooter =
    R"(Prints the help of all subcommands as a roff page. Installed packages include it: man blocksieve.

Examples:
  blocksieve manual | man -l -)";

std::string ManPage(const CLI::App& root) {
  std::string text = fmt::format(
      ".TH BLOCKSIEVE 1 \"\" \"{} " BLOCKSIEVE_VERSION "\" \"User Commands\"\n", root.get_name());
  text += ".SH NAME\n" + root.get_name() + " \\- " + EscapeForRoff(root.get_description()) + "\n";
  text += ".SH SYNOPSIS\n" + Synopsis(root);
  text += ".SH OPTIONS\n" + Options(root);
  text += ".SH SUBCOMMANDS\n";
  for (const CLI::App* const command : SubcommandsOf(root)) text += Section(*command);
  text += ".SH ENVIRONMENT\n" + Body(kEnvironment);
  return text + ".SH EXAMPLES AND EXIT STATUS\n" + Body(root.get_footer());
}

}  // namespace

void AddManualCommand(CLI::App* app, Action* action) {
  SetAction(AddSubcommand(app, "manual", "Print the manual page", kManualFooter), action,
            [app] { term::WriteToStandardOutput(ManPage(*app)); });
}

}  // namespace blocksieve::cli
