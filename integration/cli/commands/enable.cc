// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <regex>

#include "integration/cli/commands/rewrite.h"
#include "integration/cli/maintenance/options_change.h"
#include "integration/cli/rows/rows.h"
#include "integration/rocksdb/policy/enable_options.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kEnableFooter =
    R"help(Sets in the OPTIONS file of the database what blocksieve::Enable sets in a program, in place of an
earlier call: filter policy, block index, prefix extractor, collectors and listener. Those of other
programs stay. Prints what holds ranges, prefixes and columns (before RocksDB 11.2 filters and
sidecars), and the changes; writes them as blocksieve apply does, and refuses the same.

Needs a goal, --kind, --ranges, --prefixes or --index (see blocksieve load --help), or --nothing,
which takes out all of blocksieve; blocksieve revert restores the policy of before. Files keep what
they have until they are rewritten (see blocksieve rewrite --help).

Examples:
  blocksieve enable --db paths.db --bits-per-key 10 --dry-run
  blocksieve enable --db paths.db --ranges --prefixes delimiter:/ --index package=field:1
  blocksieve enable --db paths.db --nothing)help";

struct EnableCommand : ChangeOptions {
  std::map<std::string, std::string> values;  // by the name in the table
  std::map<std::string, bool> flags;
  std::vector<std::string> indexes;
  std::vector<std::string> families;  // empty: all
  bool is_nothing = false;
};

using rocksdb_plugin::EnableOptionTable;

EnableOptions ParseFeatures(const EnableCommand& command) {
  EnableOptions features;
  for (const auto& [name, text] : command.values) {
    if (!text.empty()) EnableOptionTable().Parse(name, text, &features).PermitUncheckedError();
  }
  for (const auto& [name, is_on] : command.flags)
    EnableOptionTable().Parse(name, is_on ? "true" : "false", &features).PermitUncheckedError();
  features.columns = ParseColumns(command.indexes);
  if (!command.is_nothing && !rocksdb_plugin::HasKeyFilters(features) &&
      !rocksdb_plugin::AnswersRanges(features) && features.columns.empty()) {
    term::FailUsage(
        "no feature is given; required: one of --target-fpr, --wasted-reads, --bits-per-key, "
        "--kind, --ranges, --prefixes, --index and --nothing");
  }
  // With default options, only features that contradict each other are refused.
  rocksdb::Options defaults;
  const rocksdb::Status status = Enable(&defaults, features);
  if (status.IsInvalidArgument()) term::FailUsage("{}", rocksdb_plugin::ToMessage(status));
  return features;
}

void RunEnable(const EnableCommand& given) {
  EnableCommand options = given;
  const EnableOptions features = ParseFeatures(options);
  if (options.families.size() == 1) options.target.family = options.families.front();
  std::optional<DatabaseLock> lock;
  if (!options.is_dry_run) lock.emplace(options.target);
  const StoredDatabase stored = ReadStored(options.target);
  StoredDatabase edited = stored;
  std::string carriers;
  if (options.families.empty()) edited.text = EnabledOptions(stored, features, &carriers);
  for (const std::string& name : options.families) {
    edited.target.family = name;
    edited.text = EnabledOptions(edited, features, &carriers);
  }
  WriteOptions(options, stored, *edited.text, lock, carriers);
}

// The meaning of an option without Markdown, in lines that fit the help, with the allowed values.
std::string HelpText(const rocksdb_plugin::OptionTable::Entry& option) {
  constexpr size_t kMaxLine = 85;  // beside the column of names
  std::string text =
      std::regex_replace(option.meaning, std::regex(R"(`|\[([^\]]*)\]\([^)]*\))"), "$1");
  const bool is_flag = option.default_text == "false";
  if (!is_flag && !option.allowed.empty()) text += "; allowed: " + option.allowed;
  for (size_t begin = 0; begin + kMaxLine < text.size();) {
    begin = text.rfind(' ', begin + kMaxLine);
    text[begin++] = '\n';
  }
  return text;
}

}  // namespace

void AddEnableCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "enable", "Write filters, ranges and skip indexes to the OPTIONS file",
      kEnableFooter, RunEnable);
  AddTargetOptions(command, options, Subject::kDatabase, "text|json", &options->families);
  AddOption(command, &options->indexes, "--index NAME=EXTRACTOR",
            "index this part of the value under this name; repeatable");
  std::vector<std::string> names = {"--index"};
  for (const auto& entry : EnableOptionTable().entries()) {
    std::string name = entry.name;
    if (name == "columns") continue;  // --index
    std::ranges::replace(name, '_', '-');
    names.push_back("--" + name);
    if (entry.default_text == "false") {
      AddOption(command, &options->flags[entry.name], names.back(), HelpText(entry));
      continue;
    }
    AddOption(command, &options->values[entry.name],
              names.back() + (entry.allowed.empty() ? " RULE" : " X"), HelpText(entry),
              [&entry](const std::string& text) -> std::string {
                EnableOptions ignored;  // the table says "option NAME is VALUE; allowed: RANGE"
                const rocksdb::Status status = entry.parse(text, &ignored);
                const std::string why = rocksdb_plugin::ToMessage(status);
                return status.ok() ? "" : why.substr(why.find(" is ") + 4);
              });
  }
  AddOption(command, &options->is_nothing, "--nothing", "take out all of blocksieve");
  for (const std::string& name : names) Exclude(command, "--nothing", {name.c_str()});
  AddDropOption(command, &options->target);
  AddOption(command, &options->is_dry_run, "--dry-run", "print the changes and write nothing");
}

}  // namespace blocksieve::cli
