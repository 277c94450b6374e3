#include "integration/cli/commands/command_tree.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

std::string Usage(const CLI::App& command) {
  std::string line = fmt::format("Usage: {} [OPTIONS]", PathOf(command));
  for (const CLI::Option* const option : command.get_options()) {
    if (!option->get_positional()) continue;
    const std::string value = ValueOf(*option) + (IsRepeatable(*option) ? "..." : "");
    line += option->get_required() ? " " + value : " [" + value + "]";
  }
  return line + (SubcommandsOf(command).empty() ? "\n" : " SUBCOMMAND\n");
}

// Two columns; a name too long for the first gets a line of its own.
std::string Item(const std::string& name, const std::string& description) {
  constexpr size_t kWidth = 28;
  const std::string separator = name.size() < kWidth ? "" : fmt::format("\n  {:{}}", "", kWidth);
  return fmt::format("  {:{}}{}{}\n", name, kWidth, separator, description);
}

std::string HelpOfOption(const CLI::Option& option) {
  const std::string value = ValueOf(option);
  std::string name = fmt::format("{}", fmt::join(NamesOf(option), ", "));
  if (!value.empty()) name += (name.empty() ? "" : " ") + value;
  if (IsRepeatable(option)) name += " ...";
  if (option.get_required()) name += " REQUIRED";
  return Item(name, option.get_description());
}

std::string HelpOfOptions(const CLI::App& command, bool positional) {
  std::string items;
  for (const CLI::Option* const option : command.get_options()) {
    if (option->get_positional() == positional) items += HelpOfOption(*option);
  }
  return items;
}

std::string Subcommands(const CLI::App& command) {
  std::string items;
  for (const CLI::App* const below : SubcommandsOf(command)) {
    items += Item(below->get_name(), below->get_description());
  }
  return items;
}

std::string Group(const char* title, const std::string& items) {
  return items.empty() ? "" : fmt::format("\n{}:\n{}", title, items);
}

// "--exlpain (did you mean --explain?)"
std::string WithSuggestion(const CLI::App& app, const std::string& argument) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  std::vector<std::string> known;
  std::string word = argument;
  const std::string shown = term::Shown(argument);
  if (argument.starts_with('-')) {
    word.resize(std::min(word.find('='), word.size()));
    for (const CLI::Option* const option : command.get_options()) {
      for (const std::string& name : NamesOf(*option)) known.push_back(name);
    }
  } else {
    for (const CLI::App* const below : SubcommandsOf(command)) known.push_back(below->get_name());
  }
  const std::string nearest = term::Nearest(word, known);
  return nearest.empty() ? shown : fmt::format("{} (did you mean {}?)", shown, nearest);
}

// Arguments that no option or subcommand takes, in the order typed; CLI11 has another order.
std::vector<std::string> Unexpected(const CLI::App& app,
                                    const std::vector<std::string>& arguments) {
  std::vector<std::string> rest = app.remaining(/*recurse=*/true);
  std::vector<std::string> ordered;
  for (const std::string& argument : arguments) {
    const auto found = std::find(rest.begin(), rest.end(), argument);
    if (found == rest.end()) continue;
    ordered.push_back(argument);
    rest.erase(found);
  }
  ordered.insert(ordered.end(), rest.begin(), rest.end());
  return ordered;
}

}  // namespace

std::vector<std::string> NamesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string ValueOf(const CLI::Option& option) {
  return option.get_positional() ? option.get_name(/*positional=*/true) : option.get_type_name();
}

bool IsRepeatable(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

std::string PathOf(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return (parent == nullptr ? "" : PathOf(*parent) + " ") + command.get_name();
}

std::vector<const CLI::App*> SubcommandsOf(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* below) { return !below->get_group().empty(); });
}

std::string HelpText(const CLI::App& command) {
  return command.get_description() + "\n" + Usage(command) +
         Group("Arguments", HelpOfOptions(command, /*positional=*/true)) +
         Group("Options", HelpOfOptions(command, /*positional=*/false)) +
         Group("Subcommands", Subcommands(command)) + "\n" + command.get_footer() + "\n";
}

std::string DescribeParseError(const CLI::App& app, const CLI::ParseError& error,
                               const std::vector<std::string>& arguments) {
  std::vector<std::string> unexpected = Unexpected(app, arguments);
  std::string problem = error.what();
  // dynamic_cast does not compile if RocksDB, and so the command, is built without RTTI.
  const auto is = [&](CLI::ExitCodes code) {
    return error.get_exit_code() == static_cast<int>(code);
  };
  if (is(CLI::ExitCodes::ArgumentMismatch)) {
    problem = problem.substr(0, problem.find(": ")) + " requires a value";
  }
  // A validator's refusal: "--keys: 0; allowed: 1 to 5" becomes "--keys is 0; allowed: 1 to 5".
  if (const size_t colon = problem.find(": ");
      is(CLI::ExitCodes::ValidationError) && colon != problem.npos) {
    problem.replace(colon, 2, " is ");
  }
  if (unexpected.empty()) return problem;
  // Arguments after an unknown subcommand are not worth a message.
  const bool is_subcommand = app.get_subcommands().empty() && !unexpected[0].starts_with('-');
  if (is_subcommand) {
    return fmt::format("unknown subcommand: {}", WithSuggestion(app, unexpected[0]));
  }
  for (std::string& argument : unexpected) argument = WithSuggestion(app, argument);
  const std::string message = fmt::format(
      "unexpected argument{}: {}", unexpected.size() == 1 ? "" : "s", fmt::join(unexpected, " "));
  // A missing option was probably misspelt.
  const bool is_extras = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  return is_extras ? message : fmt::format("{}; {}", problem, message);
}

}  // namespace blocksieve::cli
