#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "integration/cli/commands/options.h"
#include "integration/cli/database/database.h"
#include "integration/cli/maintenance/skip_indexes.h"
#include "integration/cli/rows/rows.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/interrupt.h"
#include "integration/cli/term/progress.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kIndexFooter =
    R"help(Large skip indexes are stored in sidecar files beside the SSTs, such as 000012.bsx beside
000012.sst. RocksDB's checkpoints, backups and imports do not copy them. Scans without an index
return the same rows but read more.

By default, reads each SST whose index is missing or damaged, and builds the same index as the
newest indexed SST has. --index adds an index on another part of the value, even if another program
wrote the database and it has no index yet; fields of the value are numbered from 1 (see blocksieve load --help). SSTs
are not rewritten. If an index exceeds --max-index-bytes, a warning names the limit that would keep
everything. An interrupted command can be run again and continues where it stopped. Another process
may have the database open; the files that it writes meanwhile have the indexes of its own options.

A process without the plug-in deletes SSTs without their sidecars; a program with blocksieve's
listener deletes those when it opens the database, and so does --delete-orphans.

With RocksDB before 9.3, scans at older snapshots ignore indexes that were built this way.

Examples:
  blocksieve index --db paths.db                        # after a restore
  blocksieve index --db paths.db --index lib=words:2    # another index, or the first
  blocksieve index --db paths.db --save-to saved        # with a backup
  blocksieve index --db paths.db --copy-from saved      # after restoring it)help";

struct IndexOptions {
  IndexRebuild rebuild;
  std::vector<std::string> indexes;
  std::string copy_from;
  std::string save_to;
  bool delete_orphans = false;
  OutputFormat format = OutputFormat::kText;
};

void Report(const IndexOptions& options, const std::string& text,
            const nlohmann::ordered_json& document) {
  term::WriteToStandardOutput(options.format == OutputFormat::kJson ? JsonLine(document)
                                                                    : text + "\n");
}

void Rebuild(IndexOptions options) {
  options.rebuild.columns = ParseColumns(options.indexes);
  term::CatchInterrupts();
  term::Progress progress;
  BackfillProgress last;
  const bool is_done = RebuildIndexes(options.rebuild, [&](const BackfillProgress& done) {
    last = done;
    const uint64_t all_bytes = done.bytes_done + done.bytes_left;
    progress.Show(fmt::format("indexing, {} of {}", term::WithCommas(done.files_done),
                              term::CountOf(done.files_done + done.files_left, "file")),
                  {done.bytes_done, all_bytes, done.bytes_done, "byte"});
    return !term::InterruptFlag();
  });
  progress.Show("");
  if (!is_done) {
    throw term::Interrupted(
        fmt::format("interrupted; {} indexed, {} left; run it again to continue",
                    term::CountOf(last.files_done, "file"), last.files_left));
  }
  Report(options,
         fmt::format("indexed: {} of {} bytes", term::CountOf(last.files_done, "file"),
                     term::WithCommas(last.bytes_done)),
         {{"files_indexed", last.files_done}, {"bytes_read", last.bytes_done}});
}

void RunIndex(const IndexOptions& options) {
  CheckDatabase(options.rebuild.database);
  if (!options.save_to.empty()) {
    SaveIndexes(options.rebuild.database, options.save_to);
    return Report(options, "saved to " + options.save_to, {{"saved_to", options.save_to}});
  }
  if (!options.copy_from.empty()) {
    const uint64_t num_copied =
        CopyIndexes(options.rebuild.database, options.rebuild.family, options.copy_from);
    return Report(options, "copied: " + term::CountOf(num_copied, "sidecar"),
                  {{"num_copied", num_copied}});
  }
  if (options.delete_orphans) {
    const uint64_t num_deleted = DeleteOrphanIndexes(options.rebuild.database);
    return Report(options, "deleted: " + term::CountOf(num_deleted, "sidecar"),
                  {{"num_deleted", num_deleted}});
  }
  Rebuild(options);
}

}  // namespace

void AddIndexCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "index", "Build, save or restore skip indexes without rewriting SSTs",
      kIndexFooter, RunIndex);
  AddDatabaseOption(command, &options->rebuild.database, "the directory of the database");
  AddFamilyOption(command, &options->rebuild.family);
  CLI::Option* const indexes =
      AddOption(command, &options->indexes,
                {"--index", "NAME=EXTRACTOR", "also index this part of the value under this name"});
  CLI::Option* const rate = AddRateOption(command, &options->rebuild.bytes_per_second, "read");
  CLI::Option* const size = AddMaxIndexBytesOption(command, &options->rebuild.max_index_bytes,
                                                   "the current limit, or 8MiB");
  CLI::Option* const copy = AddOption(
      command, &options->copy_from,
      {"--copy-from", "DIR", "copy missing indexes from DIR, a database or a copy by --save-to"});
  CLI::Option* const save =
      AddOption(command, &options->save_to, {"--save-to", "DIR", "copy all indexes to DIR"});
  CLI::Option* const orphans =
      AddFlag(command, &options->delete_orphans, "--delete-orphans",
              "delete indexes whose SSTs no longer exist; no process may have the database open");
  for (CLI::Option* const one : {indexes, rate, size}) {
    for (CLI::Option* const other : {copy, save, orphans}) Exclude(one, other);
  }
  for (CLI::Option* const other : {save, orphans}) Exclude(copy, other);
  Exclude(save, orphans);
  AddFormatOption(command, &options->format);
}

}  // namespace blocksieve::cli
