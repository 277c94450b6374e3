#include "integration/cli/commands/command_tree.h"

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
  for (const CLI::App* const below : app.get_subcommands([](const CLI::App*) { return true; })) {
    entry.subcommands.push_back(Describe(*below, path + " " + below->get_name()));
  }
  return entry;
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

std::vector<const CommandEntry*> AllCommands(const CommandEntry& root) {
  std::vector<const CommandEntry*> all = {&root};
  for (const CommandEntry& below : root.subcommands) {
    for (const CommandEntry* const each : AllCommands(below)) all.push_back(each);
  }
  return all;
}

}  // namespace blocksieve::cli
