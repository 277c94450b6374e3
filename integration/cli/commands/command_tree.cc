#include "integration/cli/commands/command_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

namespace blocksieve::cli {
namespace {

OptionEntry DescribeOption(const CLI::Option& option) {
  OptionEntry entry;
  entry.description = option.get_description();
  entry.is_required = option.get_required();
  entry.is_repeatable = option.get_items_expected_max() > 1;
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  entry.value =
      option.get_positional() ? option.get_name(/*positional=*/true) : option.get_type_name();
  return entry;
}

CommandEntry Describe(const CLI::App& app, const std::string& path) {
  CommandEntry entry;
  entry.path = path;
  entry.description = app.get_description();
  entry.footer = app.get_footer();
  for (const CLI::Option* const option : app.get_options()) {
    entry.options.push_back(DescribeOption(*option));
  }
  const auto is_shown = [](const CLI::App* below) { return !below->get_group().empty(); };
  for (const CLI::App* const below : app.get_subcommands(is_shown)) {
    entry.subcommands.push_back(Describe(*below, path + " " + below->get_name()));
  }
  return entry;
}

std::string Usage(const CommandEntry& command) {
  std::string line = fmt::format("Usage: {} [OPTIONS]", command.path);
  for (const OptionEntry& option : command.options) {
    if (!option.is_positional()) continue;
    const std::string value = option.value + (option.is_repeatable ? "..." : "");
    line += option.is_required ? " " + value : " [" + value + "]";
  }
  return line + (command.subcommands.empty() ? "\n" : " SUBCOMMAND\n");
}

// Two columns; a name too long for the first gets a line of its own.
std::string Item(const std::string& name, const std::string& description) {
  constexpr size_t kWidth = 28;
  const std::string separator = name.size() < kWidth ? "" : fmt::format("\n  {:{}}", "", kWidth);
  return fmt::format("  {:{}}{}{}\n", name, kWidth, separator, description);
}

std::string HelpOfOption(const OptionEntry& option) {
  std::string name = fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.value.empty()) name += (name.empty() ? "" : " ") + option.value;
  if (option.is_repeatable) name += " ...";
  if (option.is_required) name += " REQUIRED";
  return Item(name, option.description);
}

std::string HelpOfOptions(const CommandEntry& command, bool positional) {
  std::string items;
  for (const OptionEntry& option : command.options) {
    if (option.is_positional() == positional) items += HelpOfOption(option);
  }
  return items;
}

std::string Subcommands(const CommandEntry& command) {
  std::string items;
  for (const CommandEntry& below : command.subcommands) {
    items += Item(below.name(), below.description);
  }
  return items;
}

std::string Group(const char* title, const std::string& items) {
  return items.empty() ? "" : fmt::format("\n{}:\n{}", title, items);
}

}  // namespace

ValueKind KindOfValue(const OptionEntry& option) {
  if (option.value.empty()) return ValueKind::kNone;
  if (option.value == "DIR") return ValueKind::kDirectory;
  if (option.value == "FILE") return ValueKind::kFile;
  return option.value.find('|') == std::string::npos ? ValueKind::kOther : ValueKind::kWords;
}

std::vector<std::string> Split(const std::string& text, char separator) {
  return CLI::detail::split(text, separator);
}

std::vector<std::string> WordsOfValue(const OptionEntry& option) {
  return Split(option.value, '|');
}

std::string CommandEntry::name() const { return path.substr(path.rfind(' ') + 1); }

CommandEntry DescribeCommand(const CLI::App& app) { return Describe(app, app.get_name()); }

std::string HelpText(const CommandEntry& command) {
  return command.description + "\n" + Usage(command) +
         Group("Arguments", HelpOfOptions(command, /*positional=*/true)) +
         Group("Options", HelpOfOptions(command, /*positional=*/false)) +
         Group("Subcommands", Subcommands(command)) + "\n" + command.footer + "\n";
}

}  // namespace blocksieve::cli
