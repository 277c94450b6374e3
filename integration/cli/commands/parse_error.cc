#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "integration/cli/commands/command_tree.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

// "--exlpain (did you mean --explain?)"
std::string WithSuggestion(const CLI::App& app, const std::string& argument) {
  const auto chosen = app.get_subcommands();
  const CommandEntry command = DescribeCommand(chosen.empty() ? app : *chosen.front());
  std::vector<std::string> known;
  std::string word = argument;
  const std::string shown = term::Shown(argument);
  if (argument.starts_with('-')) {
    word.resize(std::min(word.find('='), word.size()));
    for (const OptionEntry& option : command.options) {
      known.insert(known.end(), option.names.begin(), option.names.end());
    }
  } else {
    for (const CommandEntry& below : command.subcommands) known.push_back(below.name());
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

// The command line with the subcommand first, if options of the subcommand precede it; or "".
std::string Reordered(const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return "";
  const CommandEntry command = DescribeCommand(*chosen.front());
  const auto name = std::find(arguments.begin(), arguments.end(), command.name());
  const bool has_option = std::any_of(arguments.begin(), name, [&](const std::string& argument) {
    const std::string option = argument.substr(0, argument.find('='));
    return std::any_of(command.options.begin(), command.options.end(), [&](const auto& known) {
      return std::find(known.names.begin(), known.names.end(), option) != known.names.end();
    });
  });
  if (name == arguments.end() || !has_option) return "";
  std::vector<std::string> words(name, arguments.end());
  words.insert(words.end(), arguments.begin(), name);
  for (std::string& word : words) word = term::Shown(ShellWord(word));
  return fmt::format("{} {}", app.get_name(), fmt::join(words, " "));
}

}  // namespace

std::string DescribeParseError(const CLI::App& app, const CLI::ParseError& error,
                               const std::vector<std::string>& arguments) {
  std::vector<std::string> unexpected = Unexpected(app, arguments);
  std::string problem = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    problem = problem.substr(0, problem.find(": ")) + " requires a value";
  }
  // A validator's refusal: "--keys: 0; allowed: 1 to 5" becomes "--keys is 0; allowed: 1 to 5".
  if (const size_t colon = problem.find(": ");
      dynamic_cast<const CLI::ValidationError*>(&error) != nullptr && colon != problem.npos) {
    problem.replace(colon, 2, " is ");
  }
  if (unexpected.empty()) return problem;
  if (const std::string line = Reordered(app, arguments); !line.empty()) {
    return "options follow the subcommand: " + line;
  }
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
