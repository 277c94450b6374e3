#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "integration/cli/commands/options.h"
#include "integration/cli/database/database.h"
#include "integration/cli/maintenance/skip_indexes.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/interrupt.h"
#include "integration/cli/term/progress.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kIndexFooter =
    R"help(Large indexes are in files beside the SSTs, such as 000012.bsx beside 000012.sst. Checkpoints,
backups and imports of RocksDB leave these behind. Scans are right without them, but read more.

Without further options, each SST that lacks an index is read once from its beginning to its end,
and gets the index that the newest indexed SST of the database has. --index adds one on another part
of the value (fields are those of the value, counted from 1; see blocksieve load), also to a database
that never had any, whatever program wrote it. No SST is rewritten. What is left out for its size is
said, with the --max-index-bytes that would keep all. An interrupted
command can be repeated: it goes on where it ended. Another process may have the database open; what it
writes meanwhile gets the indexes of its own options. Only the default column family.

With a RocksDB before 9.3, scans at older snapshots read such SSTs as a whole.

Examples:
  blocksieve index --db paths.db                        # after a restore
  blocksieve index --db paths.db --index lib=words:2    # another index, or the first
  blocksieve index --db paths.db --save-to saved        # beside a backup
  blocksieve index --db paths.db --copy-from saved      # after its restore)help";

struct IndexOptions {
  IndexRebuild rebuild;
  std::vector<std::string> indexes;
  std::string copy_from;
  std::string save_to;
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
    throw term::Interrupted(fmt::format("interrupted; {} indexed, {} left",
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
    const uint64_t num_copied = CopyIndexes(options.rebuild.database, options.copy_from);
    return Report(options, "copied: " + term::CountOf(num_copied, "sidecar"),
                  {{"num_copied", num_copied}});
  }
  Rebuild(options);
}

}  // namespace

void AddIndexCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "index", "Give the files of a database the skip indexes that they lack",
      kIndexFooter, RunIndex);
  AddDatabaseOption(command, &options->rebuild.database, "the directory of the database");
  CLI::Option* const indexes =
      AddOption(command, &options->indexes,
                {"--index", "NAME=EXTRACTOR", "a name, and what of the value to index under it"});
  CLI::Option* const rate = AddRateOption(command, &options->rebuild.bytes_per_second, "read");
  CLI::Option* const size =
      AddMaxIndexBytesOption(command, &options->rebuild.max_index_bytes, "as it was, or 8MiB");
  CLI::Option* const copy =
      AddOption(command, &options->copy_from,
                {"--copy-from", "DIR",
                 "take them from there, a database or what was saved, instead of reading SSTs"});
  CLI::Option* const save =
      AddOption(command, &options->save_to, {"--save-to", "DIR", "put all of them there instead"});
  for (CLI::Option* const one : {indexes, rate, size}) {
    Exclude(one, copy);
    Exclude(one, save);
  }
  Exclude(copy, save);
  AddFormatOption(command, &options->format);
}

}  // namespace blocksieve::cli
