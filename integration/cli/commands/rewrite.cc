#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "integration/cli/commands/rewrite_files.h"
#include "integration/cli/maintenance/file_rewriter.h"
#include "integration/cli/maintenance/skip_indexes.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/interrupt.h"
#include "integration/cli/term/progress.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kRewriteFooter =
    R"help(Files get other filters when they are rewritten. This rewrites those, and only those, whose filters
would waste fewer reads or take less memory, by 5 % at least, as the database's OPTIONS file asks for
them (blocksieve apply). Those that save most reads come first, then those that save most memory. Each
stays on its level. --only-without leaves out files whose filters rule something out already.

Rates by level (bits_per_key, wasted_reads) shift a little with every compaction. For that alone no
file is rewritten: it has to be 5 % from its best, with memory weighed against reads as the plan does
(a rate below 0.72 or above 1.36 times the planned one), or all files together have to save 5 %. So a
command that is repeated rewrites nothing.

No process may have the database open. What RocksDB itself has to compact is waited for; if it compacts
more meanwhile, the command looks again at what would gain. What is done stays done: a command that was
interrupted or killed is repeated, and goes on with the files that are left.
Skip indexes of the default column family are kept.

At the end it shows what lookups of absent keys waste, before and after: predicted by the model of the
filters, and measured, in up to five seconds, by RocksDB's counters.

--indexes rewrites the files that lack the skip index of the newest indexed file instead; --index adds
one on another part of the value. blocksieve index makes them without rewriting files.

Examples:
  blocksieve rewrite --db paths.db --dry-run
  blocksieve rewrite --db paths.db --bytes-per-second 50MB
  blocksieve rewrite --db paths.db --index lib=words:2)help";

struct RewriteOptions {
  RewriteSettings settings;
  bool with_indexes = false;
  std::vector<std::string> indexes;
};

void RewriteForIndexes(const RewriteOptions& options) {
  const std::vector<Column> columns = ParseColumns(options.indexes);
  term::CatchInterrupts();
  term::Progress line;
  BackfillProgress last;
  const bool is_done = [&] {
    FileRewriter rewriter(options.settings.request.database, options.settings.bytes_per_second,
                          columns);
    return rewriter.RewriteForIndexes([&](const BackfillProgress& done) {
      last = done;
      ShowRewriting(done, &line);
      return !term::InterruptFlag();
    });
  }();
  line.Show("");
  if (!is_done) {
    throw term::Interrupted(fmt::format("interrupted; {} rewritten, {} left; repeat it to go on",
                                        term::CountOf(last.files_done, "file"), last.files_left));
  }
  if (options.settings.format == OutputFormat::kJson) {
    return term::WriteToStandardOutput(
        JsonLine({{"files_rewritten", last.files_done}, {"bytes_rewritten", last.bytes_done}}));
  }
  term::WriteToStandardOutput(fmt::format("rewritten: {}, {} bytes\n",
                                          term::CountOf(last.files_done, "file"),
                                          term::WithCommas(last.bytes_done)));
}

void RunRewrite(const RewriteOptions& options) {
  CheckDatabase(options.settings.request.database);
  if (options.with_indexes || !options.indexes.empty()) return RewriteForIndexes(options);
  RewriteFiles(options.settings, "Rewriting",
               [&] { return PlanRewrite(options.settings.request); });
}

}  // namespace

void AddRewriteCommand(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddSubcommand(app, action, "rewrite", "Rewrite the files of a database that would gain by it",
                    kRewriteFooter, RunRewrite);
  AddRewriteOptions(command, &options->settings);
  AddFlag(command, &options->settings.request.only_unfiltered, "--only-without",
          "only files without a filter");
  AddFlag(command, &options->with_indexes, "--indexes",
          "the files that lack a skip index, instead of those whose filters would gain");
  AddOption(command, &options->indexes,
            {"--index", "NAME=EXTRACTOR", "the same, and what of the value to index under a name"});
}

}  // namespace blocksieve::cli
