// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/cli/commands/rewrite_files.h"
#include "integration/cli/database/open_database.h"
#include "integration/cli/maintenance/skip_indexes.h"
#include "integration/cli/rows/rows.h"
#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kIndexFooter =
    R"help(Large skip indexes are stored in sidecar files beside the SSTs, such as 000012.bsx beside
000012.sst. RocksDB's checkpoints, backups and imports do not copy them. Scans without an index
return the same rows but read more.

By default, reads each SST whose index is missing or damaged, and builds the same index as the
newest indexed SST has. --index adds an index on another part of the value, even if another program
wrote the database and it has no index yet; fields of the value are numbered from 1 (see blocksieve
load --help) and separated by TAB, or by the delimiter in parentheses: field(,):2. SSTs are not
rewritten. An interrupted command continues when it is run again. Another process may have the
database open; the files that it writes meanwhile have the indexes of its own options.

A process without the plug-in leaves sidecars of deleted SSTs; blocksieve's listener deletes them,
as does --delete-orphans. Before RocksDB 9.3, SSTs with several versions of a row get none.

Examples:
  blocksieve index --db paths.db                        # after a restore
  blocksieve index --db paths.db --index lib=words:2    # another index, or the first
  blocksieve index --db paths.db --save-to saved        # with a backup
  blocksieve index --db paths.db --copy-from saved      # after restoring it)help";

struct IndexOptions : TargetOptions {
  IndexChange change;
  uint64_t bytes_per_second = 0;
  std::vector<std::string> indexes;
  std::string copy_from;
  std::string save_to;
  bool delete_orphans = false;
};

void Rebuild(IndexOptions options) {
  options.change.columns = ParseColumns(options.indexes);
  const BackfillProgress last = RunInterruptibly("indexing", [&](const ShowProgress& show) {
    return RebuildIndexes(options.target, options.change, options.bytes_per_second, show);
  });
  WriteReport(options.format, {{"files_indexed", last.files_done}, {"bytes_read", last.bytes_done}},
              fmt::format("indexed: {} of {} bytes\n", term::CountOf(last.files_done, "file"),
                          term::WithCommas(last.bytes_done)));
  const Database db = OpenReadOnly(options.target, *options.target.family);
  for (const Column& column : options.change.columns) {
    if (HasValues(db, db.HandleOf(*options.target.family), column)) continue;
    term::WriteToStandardError(fmt::format(
        "blocksieve index: warning: no row has a value for the index {}; fields are separated by "
        "TAB, or by the delimiter in parentheses, as in field(,):2\n",
        column.ToText()));
  }
}

void RunIndex(const IndexOptions& options) {
  const Target& target = options.target;
  CheckDatabase(target);
  if (!options.save_to.empty()) {
    constexpr const char* kProblem = "cannot save the indexes of database {}";
    term::CheckOk(CreateNamedDirectory(options.save_to), kProblem, target.path);
    const Database db = OpenReadOnly(target, rocksdb::kDefaultColumnFamilyName, Access::kIndex,
                                     nullptr, options.save_to);
    term::CheckOk(SaveSkipIndexes(db.get(), options.save_to), kProblem, target.path);
    return WriteReport(options.format, {{"saved_to", options.save_to}},
                       "saved to " + options.save_to + "\n");
  }
  if (!options.copy_from.empty()) {
    uint64_t num_copied = 0;
    const Database db = OpenReadOnly(target, *target.family, Access::kIndex);
    term::CheckOk(
        CopySkipIndexes(db.get(), db.HandleOf(*target.family), options.copy_from, &num_copied),
        "cannot copy indexes into database {}", target.path);
    return WriteReport(options.format, {{"num_copied", num_copied}},
                       "copied: " + term::CountOf(num_copied, "sidecar") + "\n");
  }
  if (options.delete_orphans) {
    const DatabaseLock lock(target);
    uint64_t num_deleted = 0;
    for (const std::string& path : OrphanIndexes(target)) {
      num_deleted += EnvOfDirectory(path.substr(0, path.rfind('/')))->DeleteFile(path).ok();
    }
    return WriteReport(options.format, {{"num_deleted", num_deleted}},
                       "deleted: " + term::CountOf(num_deleted, "sidecar") + "\n");
  }
  Rebuild(options);
}

}  // namespace

void AddIndexCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "index", "Build, save or restore skip indexes without rewriting SSTs",
      kIndexFooter, RunIndex);
  AddDatabaseOption(command, &options->target);
  AddOneFamilyOption(command, &options->target);
  AddOption(command, &options->indexes, "--index NAME=EXTRACTOR",
            "also index this part of the value under this name");
  AddRateOption(command, &options->bytes_per_second, "read");
  AddMaxIndexBytesOption(command, &options->change.max_index_bytes, "the current limit, or 8MiB");
  AddOption(command, &options->copy_from, "--copy-from DIR",
            "copy missing indexes from DIR, a database or a copy by --save-to");
  AddOption(command, &options->save_to, "--save-to DIR", "copy all indexes to DIR");
  AddFlag(command, &options->delete_orphans, "--delete-orphans",
          "delete indexes whose SSTs no longer exist; no process may have the database open");
  for (const char* const option : {"--index", "--bytes-per-second", "--max-index-bytes"}) {
    Exclude(command, option, {"--copy-from", "--save-to", "--delete-orphans"});
  }
  Exclude(command, "--copy-from", {"--save-to", "--delete-orphans"});
  Exclude(command, "--save-to", {"--delete-orphans"});
  AddFormatOption(command, &options->format);
}

}  // namespace blocksieve::cli
