#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "integration/cli/commands/rewrite_files.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/upkeep/options_change.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kRevertDescription = "Go back to the filters of stock RocksDB";

constexpr const char* kRevertFooter =
    R"help(First writes the next OPTIONS file of the database, with the filter policy that it had before
blocksieve apply; where that is not known, with --filter-policy. Then rewrites the files that have
filters of blocksieve, as blocksieve rewrite does. It can be interrupted and repeated. No process may
have the database open. Skip indexes stay: stock RocksDB takes no notice of them.

It is never needed for right answers: stock RocksDB reads a database of blocksieve as it is. But it
takes blocksieve's filters for ones that match everything, until it rewrites their files.

With --level or --dry-run, options stay as they are.

Examples:
  blocksieve revert --db paths.db --dry-run
  blocksieve revert --db paths.db)help";

struct RevertOptions {
  RewriteSettings settings;
  std::string policy = "bloomfilter:10:false";
};

void RevertOptionsFile(const RevertOptions& options) {
  const std::string& database = options.settings.question.database;
  const DatabaseLock lock(database);
  const OptionsFile file = StockOptions(database, options.policy, options.settings.question.family);
  if (file.Changes().empty()) return;
  if (options.settings.format == OutputFormat::kText) {
    term::WriteToStandardOutput("Changes of " + file.name() + ":\n" + file.Changes());
  }
  const std::string name = WriteNextOptions(database, file);
  if (options.settings.format == OutputFormat::kText) {
    term::WriteToStandardOutput("written: " + name + "\n\n");
  }
}

void RunRevert(const RevertOptions& options) {
  const RewriteQuestion& question = options.settings.question;
  EngineOf(question.database, "rocksdb");  // says so if it is another's, or none
  const bool is_whole = !question.level && !options.settings.is_dry_run;
  if (is_whole) RevertOptionsFile(options);
  RewriteFiles(
      options.settings, [&] { return PlanRevert(question); }, /*promises=*/false);
  if (is_whole && !question.family) ForgetKeptOptions(question.database);
}

}  // namespace

void AddRevertCommand(CLI::App* app, Action* action) {
  const auto options = std::make_shared<RevertOptions>();
  CLI::App* const command = AddSubcommand(app, "revert", kRevertDescription, kRevertFooter);
  AddRewriteOptions(command, &options->settings);
  AddOption(command, &options->policy,
            {"--filter-policy", "POLICY",
             fmt::format("as in OPTIONS files, if it is not known what was before (default {})",
                         options->policy)});
  SetAction(command, action, [options] { RunRevert(*options); });
}

}  // namespace blocksieve::cli
