#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/commands/options.h"
#include "integration/cli/database/database.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/maintenance/options_change.h"
#include "integration/cli/term/streams.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kApplyFooter =
    R"help(Shows what changes, and writes the next OPTIONS file of the database, which RocksDB loads instead of
the one before it. That one stays, and is kept as blocksieve-OPTIONS-... for blocksieve revert,
because RocksDB removes old ones. No process may have the database open.

  filter_policy                goes into [TableOptions/BlockBasedTable "FAMILY"]; beside a policy
                               that spreads memory over the levels, the listener
  prefix_extractor             goes into [CFOptions "FAMILY"], as does
  table_properties_collectors
  listeners                    goes into [DBOptions]

RocksDB itself does not read OPTIONS files: programs do that, with LoadLatestOptions. Those that set
their options in the code must set these, too, or write their own into the next OPTIONS file. Files
that exist keep their filters until they are rewritten: blocksieve rewrite.

Examples:
  blocksieve apply --db paths.db --option 'filter_policy={id=blocksieve;bits_per_key=10}' --dry-run
  blocksieve apply --db paths.db --option filter_policy=blocksieve:0.01 --column-family default)help";

struct ApplyOptions {
  std::string database;
  std::vector<std::string> options;
  std::optional<std::string> family;
  bool is_dry_run = false;
  OutputFormat format = OutputFormat::kText;
};

constexpr const char* kAboutPrograms =
    "\nPrograms that load this file need the plug-in, libblocksieve_rocksdb.so, linked or "
    "preloaded:\n"
    "without it RocksDB takes the policy for none, and says nothing. Programs that set their "
    "options\n"
    "in the code must set these there; what they write replaces this file.\n"
    "Files keep their filters until they are rewritten: blocksieve rewrite --db ";

// RocksDB 7.8 drops all listeners of an OPTIONS file, without a word, if it does not know one.
std::string ListenersText(const OptionsFile& file) {
  const std::string others = WithoutListener(file.Find(kDbSection, "listeners").value_or("{}"));
  if (others == "{}") return "";
  return fmt::format(
      "Where a program does not know all listeners by their names, RocksDB makes none of them:\n"
      "such a program must add blocksieve::NewListener() itself. Others here: {}\n",
      others);
}

void RunApply(const ApplyOptions& options) {
  CheckDatabase(options.database);
  std::optional<DatabaseLock> lock;
  if (!options.is_dry_run) lock.emplace(options.database);
  const OptionsFile file = OptionsWith(options.database, options.options, options.family);
  const std::string changes = file.Changes();
  const bool writes = !changes.empty() && !options.is_dry_run;
  const bool is_text = options.format == OutputFormat::kText;
  if (is_text) {
    // Before anything is written.
    term::WriteToStandardOutput(changes.empty() ? file.name() + " has these options already.\n"
                                                : "Changes of " + file.name() + ":\n" + changes);
  }
  const std::string written = writes ? WriteNextOptions(options.database, file) : "";
  if (!is_text) {
    term::WriteToStandardOutput(
        JsonLine({{"database", options.database},
                  {"read", file.name()},
                  {"changes", changes},
                  {"written", written.empty() ? nlohmann::ordered_json(nullptr)
                                              : nlohmann::ordered_json(written)}}));
  } else if (writes) {
    term::WriteToStandardOutput("written: " + written + "\n" + kAboutPrograms +
                                ShellWord(options.database) + "\n" + ListenersText(file));
  } else if (options.is_dry_run) {
    term::WriteToStandardOutput("Nothing was written.\n");
  }
}

}  // namespace

void AddApplyCommand(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddSubcommand(app, action, "apply", "Put options of filters into a database's OPTIONS file",
                    kApplyFooter, RunApply);
  AddDatabaseOption(command, &options->database, "the directory of the database");
  AddOption(command, &options->options,
            {"--option", "NAME=VALUE", "as blocksieve advise gives it", nullptr, kRequired});
  AddOption(command, &options->family,
            {"--column-family", "NAME", "only this column family (default all)"});
  AddFlag(command, &options->is_dry_run, "--dry-run", "show what would change, and write nothing");
  AddFormatOption(command, &options->format);
}

}  // namespace blocksieve::cli
