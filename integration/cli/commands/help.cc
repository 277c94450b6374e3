#include "integration/cli/commands/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace blocksieve::cli {
namespace {

std::string Usage(const CommandEntry& command) {
  std::string line = fmt::format("Usage: {} [OPTIONS]", command.path);
  for (const OptionEntry& option : command.options) {
    if (!option.is_positional()) continue;
    const std::string value = option.value + (option.is_repeatable ? "..." : "");
    line += option.is_required ? " " + value : " [" + value + "]";
  }
  return line + (command.subcommands.empty() ? "\n" : " SUBCOMMAND\n");
}

// Two columns. What is too long for the first has a line of its own.
std::string Item(const std::string& name, const std::string& description) {
  constexpr size_t kWidth = 28;
  const std::string separator = name.size() < kWidth ? "" : fmt::format("\n  {:{}}", "", kWidth);
  return fmt::format("  {:{}}{}{}\n", name, kWidth, separator, description);
}

std::string OptionItem(const OptionEntry& option) {
  std::string name = fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.value.empty()) name += (name.empty() ? "" : " ") + option.value;
  if (option.is_repeatable) name += " ...";
  if (option.is_required) name += " REQUIRED";
  return Item(name, option.description);
}

std::string Options(const CommandEntry& command, bool positional) {
  std::string items;
  for (const OptionEntry& option : command.options) {
    if (option.is_positional() == positional) items += OptionItem(option);
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

std::string HelpText(const CommandEntry& command) {
  return command.description + "\n" + Usage(command) +
         Group("Positionals", Options(command, /*positional=*/true)) +
         Group("Options", Options(command, /*positional=*/false)) +
         Group("Subcommands", Subcommands(command)) + "\n" + command.footer + "\n";
}

}  // namespace blocksieve::cli
