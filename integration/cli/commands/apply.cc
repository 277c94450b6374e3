// SPDX-License-Identifier: Apache-2.0

#include "integration/cli/commands/rewrite.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/maintenance/options_change.h"
#include "integration/rocksdb/block_index/factory.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kApplyFooter =
    R"help(Prints the changes and writes the next OPTIONS file of the database, which RocksDB loads instead of
the previous one. A previous file with another policy or prefix extractor is also copied to
blocksieve-OPTIONS-..., which blocksieve revert reads. apply refuses options with which RocksDB
would not open the database. No process may have it open.

Options: filter_policy, prefix_extractor, table_properties_collectors, user_defined_index_factory
(RocksDB 11.2 and later) of the column families, and listeners of the database, which are added to
those that the file names. A policy that spreads memory over the levels also adds the listener, and
one with ranges or prefixes sets prefix_extractor, if there is none.

Programs load OPTIONS files with LoadLatestOptions; those that set options in code overwrite them.
Files keep their filters until they are rewritten (see blocksieve rewrite --help); blocksieve index
builds the skip indexes of existing files.

Examples:
  blocksieve apply --db paths.db --option 'filter_policy={id=blocksieve;bits_per_key=10}' --dry-run
  blocksieve apply --db paths.db --option 'filter_policy={id=blocksieve;prefixes=delimiter:/}'
  blocksieve apply --db paths.db --option filter_policy=blocksieve:0.01 --column-family default)help";

constexpr const char* kAboutPrograms =
    "\nPrograms that load this file need the plug-in, libblocksieve_rocksdb.so, linked or "
    "preloaded:\n"
    "without it, RocksDB silently ignores what it does not know. Programs that set their options\n"
    "in code must set these there; otherwise they overwrite this file.\n"
    "Files keep their filters until they are rewritten: blocksieve rewrite --db ";

constexpr const char* kAboutOthers =
    "\nFiles keep their filters until they are rewritten, and only the plug-in reads those of "
    "blocksieve.\nTo restore stock filters in all files, and what else names blocksieve: "
    "blocksieve revert --db ";

// Fails for another index than files have that are read by it alone, with which RocksDB would open
// none of them, and for what Enable refuses, such as ranges stored twice.
void CheckBlockIndexes(const StoredDatabase& before, const StoredDatabase& stored) {
  constexpr const char* kIndex = "user_defined_index_factory";
  for (const auto& family : stored.loaded.families) {
    if (!stored.target.Has(family.name)) continue;
    const auto table = OptionsSection::Table(family.name);
    const std::string was = before.Value(table, kIndex).value_or("nullptr");
    const std::string is = stored.Value(table, kIndex).value_or("nullptr");
    const bool is_primary = stored.Value(table, "use_udi_as_primary_index") == "true";
    if (rocksdb_plugin::ParseId(was) != rocksdb_plugin::ParseId(is) &&
        (is_primary || (!IsNone(was) && !IsNone(is)))) {
      term::Fail(
          "column family {} has {}={} and use_udi_as_primary_index={}; allowed before {} comes in: "
          "nullptr and false",
          family.name, kIndex, was, is_primary, is);
    }
    const rocksdb::ColumnFamilyOptions& options = family.options;
    if (const auto index = rocksdb_plugin::FindBlockIndexOptions(options)) {
      rocksdb::Status status = rocksdb_plugin::CheckBlockIndex(*index, options);
      if (status.ok()) status = options.table_factory->ValidateOptions(stored.loaded.db, options);
      term::CheckOk(status, "cannot give column family {} a block index", family.name);
    }
  }
}

void RunApply(const ChangeOptions& options) {
  std::optional<DatabaseLock> lock;
  if (!options.is_dry_run) lock.emplace(options.target);
  const StoredDatabase stored = ReadStored(options.target);
  WriteOptions(options, stored, OptionsWith(stored, options.edits), lock, "");
}

}  // namespace

void WriteOptions(const ChangeOptions& options, const StoredDatabase& stored,
                  const OptionsText& edited, const std::optional<DatabaseLock>& lock,
                  const std::string& notes) {
  const StoredDatabase changed = WithText(options.target, edited);
  CheckWritable(changed, Access::kRead);
  CheckBlockIndexes(stored, changed);
  const std::string changes = ChangesText(edited);
  std::string text = notes + (changes.empty() ? edited.name() + " has these options already.\n"
                                              : "Changes of " + edited.name() + ":\n" + changes);
  std::string written;
  bool names_other = false;
  bool has_indexes = false;
  for (const auto& change : edited.edits()) {
    has_indexes |= change.option == "table_properties_collectors" && NamesBlocksieve(change.after);
    if (change.option != "filter_policy") continue;
    names_other |= !NamesBlocksieve(change.after);
    const std::string why = WhyNoFilterIsBuilt(change.after);
    if (!why.empty()) WarnOnce("warning: " + why);
  }
  if (!lock) {
    text += "Nothing was written.\n";
  } else if (!changes.empty()) {
    written = WriteNextOptions(lock->env(), stored, edited);
    text += "written: " + written + "\n" + (names_other ? kAboutOthers : kAboutPrograms) +
            ShellWord(options.target) + "\n";
    if (has_indexes) {
      text += "Existing files get skip indexes by: blocksieve index --db " +
              ShellWord(options.target) + "\n";
    }
  }
  Json document = {{"database", options.target.path}};
  document.update(DescribeChanges(edited, written));
  WriteReport(options.format, document, text);
}

void AddApplyCommand(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddSubcommand(app, action, "apply", "Write filter options to the OPTIONS file of a database",
                    kApplyFooter, RunApply);
  AddTargetOptions(command, options, Subject::kDatabase);
  AddOption(command, &options->edits, "--option NAME=VALUE",
            "an option as printed by blocksieve advise", nullptr, kRequired);
  AddDropOption(command, &options->target);
  AddOption(command, &options->is_dry_run, "--dry-run", "print the changes and write nothing");
}

}  // namespace blocksieve::cli
