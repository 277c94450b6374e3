#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "integration/cli/commands/rewrite_files.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/maintenance/options_change.h"
#include "integration/cli/maintenance/stock_outcome.h"
#include "integration/cli/term/streams.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kRevertFooter =
    R"help(Writes the next OPTIONS file of the database, with the filter policy that it had before
blocksieve apply; where that is not known, with --filter-policy. Then rewrites the files that have
filters of blocksieve, as blocksieve rewrite does. It can be interrupted and repeated. No process may
have the database open. Skip indexes stay: stock RocksDB takes no notice of them. It writes nothing but
the options if only the application has the policy.

It is never needed for right answers: stock RocksDB reads a database of blocksieve as it is. But it
takes blocksieve's filters for ones that match everything, until it rewrites their files.

First of all it says what going back means, by the model of the filters: the data blocks that a lookup
of an absent key reads in vain, and the bytes of filters, today and afterwards. --dry-run says that
and lists the files. At the end it shows what was measured, as blocksieve rewrite does.

Examples:
  blocksieve revert --db paths.db --dry-run
  blocksieve revert --db paths.db)help";

struct RevertOptions {
  RewriteSettings settings;
  std::string policy = "bloomfilter:10:false";
};

// Without this check the options would name a policy that no program has.
std::string KnownPolicy(const std::string& policy) {
  if (IsKnownPolicy(policy)) return "";
  return fmt::format(
      "'{}' is unknown; allowed: policies of this RocksDB, such as "
      "bloomfilter:10:false, ribbonfilter:10 and nullptr",
      policy);
}

constexpr const char* kSubject = "Going back to stock filters";

OptionsFile StockOptionsFor(const RevertOptions& options) {
  const RewriteRequest& request = options.settings.request;
  return StockOptions(request.database, options.policy, request.family);
}

/// Says what going back means before it writes the options.
OptionsFile RevertOptionsFile(const RevertOptions& options) {
  const RewriteRequest& request = options.settings.request;
  const DatabaseLock lock(request.database);
  OptionsFile file = StockOptionsFor(options);
  std::string text = PredictionText(PlanRevert(request, file), kSubject);
  if (!file.Changes().empty()) {
    const std::string changes = file.Changes();
    text += fmt::format("Changes of {}:\n{}written: {}\n\n", file.name(), changes,
                        WriteNextOptions(request.database, file));
  }
  if (options.settings.format == OutputFormat::kText) term::WriteToStandardOutput(text);
  return file;
}

/// One that the database had before and this program does not know.
std::optional<std::string> UnknownPolicy(const OptionsFile& stock) {
  for (const std::string& family : stock.Families()) {
    auto policy = stock.Find(TableSection(family), "filter_policy");
    if (policy && !policy->empty() && !IsKnownPolicy(*policy)) return policy;
  }
  return std::nullopt;
}

void ReportUnknown(const std::string& policy, OutputFormat format) {
  term::WriteToStandardOutput(
      format == OutputFormat::kText
          ? fmt::format(
                "This program does not have the filter_policy {}, so it rewrites nothing.\n"
                "Without blocksieve, the filters of today match everything until the program "
                "that has it rewrites them.\n",
                policy)
          : JsonLine({{"files_rewritten", 0}, {"unknown_policy", policy}}));
}

void RunRevert(const RevertOptions& options) {
  const RewriteRequest& request = options.settings.request;
  CheckDatabase(request.database);
  const bool is_dry_run = options.settings.is_dry_run;
  const OptionsFile stock = is_dry_run ? StockOptionsFor(options) : RevertOptionsFile(options);
  const auto unknown = UnknownPolicy(stock);
  if (unknown && !is_dry_run) {
    ReportUnknown(*unknown, options.settings.format);
  } else {
    RewriteFiles(options.settings, kSubject, [&] { return PlanRevert(request, stock); });
  }
  if (!is_dry_run && !request.level && !request.family) RemoveKeptOptions(request.database);
}

}  // namespace

void AddRevertCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "revert", "Go back to the filters of stock RocksDB", kRevertFooter, RunRevert);
  AddRewriteOptions(command, &options->settings);
  AddOption(command, &options->policy,
            {"--filter-policy", "POLICY",
             fmt::format("as in OPTIONS files, if it is not known what was before (default {})",
                         options->policy),
             KnownPolicy});
}

}  // namespace blocksieve::cli
