#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "integration/cli/commands/rewrite_files.h"
#include "integration/cli/database/database.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/database/open_database.h"
#include "integration/cli/maintenance/options_change.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kRevertFooter =
    R"help(Restores the filter policy that the database had before blocksieve apply, even if a program without
the plug-in has since written OPTIONS without it, or --filter-policy if it had none, in the next
OPTIONS file. Then rewrites the files with blocksieve filters, and those that lack filters because
of such a program, as blocksieve rewrite does; if only another program has the previous policy, no
file is rewritten. revert can be interrupted and run again. No process may have the database open.
Skip indexes stay; stock RocksDB ignores them.

Stock RocksDB reads the database correctly without this command, but treats a blocksieve filter as
matching every key until it rewrites the file.

Before it starts, revert prints the predicted change of wasted reads per lookup of an absent key and
of filter memory. --dry-run prints only that, the list of files and the changes of OPTIONS. At the
end revert reports what was measured, as blocksieve rewrite does.

Examples:
  blocksieve revert --db paths.db --dry-run
  blocksieve revert --db paths.db)help";

struct RevertOptions {
  RewriteSettings settings;
  std::string policy = "bloomfilter:10:false";
};

// Prevents OPTIONS files from naming a policy that no program has.
std::string KnownPolicy(const std::string& policy) {
  if (IsKnownPolicy(policy) && !NamesBlocksieve(policy)) return "";
  return fmt::format(
      "{}; allowed: policies of this RocksDB, such as bloomfilter:10:false, ribbonfilter:10 and "
      "nullptr",
      term::Shown(policy));
}

constexpr const char* kSubject = "Going back to stock filters";

/// Prints the predicted effect before it writes the options, and returns the name of the file.
std::string WriteStockOptions(const RevertOptions& options, const OptionsFile& stock) {
  const RewriteRequest& request = options.settings.request;
  const std::string changes = stock.ChangesText();
  std::string text = PredictionText(PlanRevert(request, stock), kSubject);
  std::string written = changes.empty() ? "" : WriteNextOptions(request.database, stock);
  if (!written.empty()) {
    text += fmt::format("Changes of {}:\n{}written: {}\n\n", stock.name(), changes, written);
  }
  if (options.settings.format == OutputFormat::kText) term::WriteToStandardOutput(text);
  return written;
}

/// The previous policy of the database, if this program does not have it.
std::optional<std::string> UnknownPolicy(const OptionsFile& stock) {
  for (const std::string& family : stock.Families()) {
    auto policy = stock.Find(TableSection(family), "filter_policy");
    if (!IsNone(policy) && !IsKnownPolicy(*policy)) return policy;
  }
  return std::nullopt;
}

/// Reports that only the options were restored.
void ReportNoRewrite(const RewriteSettings& settings,
                     const std::optional<std::string>& unknown_policy, const std::string& why) {
  nlohmann::ordered_json document = settings.about_options;
  document["files_rewritten"] = 0;
  document[unknown_policy ? "unknown_policy" : "reason"] = unknown_policy.value_or(why);
  term::WriteToStandardOutput(
      settings.format == OutputFormat::kJson
          ? JsonLine(document)
          : fmt::format(
                "{}, so no file is rewritten.\n"
                "Without blocksieve, the current filters match every key until the program that "
                "has this {} rewrites the files.\n",
                why, unknown_policy ? "policy" : "operator"));
}

void RunRevert(const RevertOptions& options) {
  RewriteSettings settings = options.settings;
  const RewriteRequest& request = settings.request;
  CheckDatabase(request.database);
  CheckLevel(request.database, request.files.level);
  std::optional<DatabaseLock> lock;
  if (!settings.is_dry_run) lock.emplace(request.database);
  const OptionsFile stock = StockOptions(request.database, options.policy, request.family);
  const std::string written = settings.is_dry_run ? "" : WriteStockOptions(options, stock);
  lock.reset();  // rewriting opens the database
  settings.about_options = DescribeChanges(stock, written);
  const auto unknown = UnknownPolicy(stock);
  const std::string why =
      unknown ? fmt::format("filter_policy is {}, which this program does not have", *unknown)
              : WhyNotRewritten(request.database);
  if (!why.empty() && !settings.is_dry_run) {
    ReportNoRewrite(settings, unknown, why);
  } else {
    RewriteFiles(settings, kSubject, [&] { return PlanRevert(request, stock); });
    if (!why.empty()) WarnIfNotRewritten(request.database);
  }
  if (!settings.is_dry_run) return RemoveKeptOptions(request.database, stock);
  if (settings.format == OutputFormat::kJson) return;
  const std::string changes = stock.ChangesText();
  if (!changes.empty()) {
    term::WriteToStandardOutput(fmt::format("\nChanges of {}:\n{}", stock.name(), changes));
  }
  term::WriteToStandardOutput("Nothing was written.\n");
}

}  // namespace

void AddRevertCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "revert", "Restore the filters of stock RocksDB", kRevertFooter, RunRevert);
  AddRewriteOptions(command, &options->settings);
  AddOption(command, &options->policy,
            {"--filter-policy", "POLICY",
             fmt::format("the policy to set if there was none; nullptr: no filters (default {})",
                         options->policy),
             KnownPolicy});
}

}  // namespace blocksieve::cli
