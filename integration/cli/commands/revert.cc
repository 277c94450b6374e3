#include <map>
#include <nlohmann/json.hpp>

#include "integration/cli/commands/rewrite_files.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/database/open_database.h"
#include "integration/cli/maintenance/options_change.h"
#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kRevertFooter =
    R"help(Restores the filter policy that the database had before blocksieve apply, or --filter-policy, in the
next OPTIONS file, even if a program without the plug-in has since written OPTIONS without it. If
that policy builds no filters, such as rocksdb.BuiltinBloomFilter of RocksDB 6, or bloomfilter
without bits per key, which programs with the C API leave, it takes the bits per key that the files
had, and says so. Then rewrites the files with blocksieve filters, and those that lack filters
because of such a program, as blocksieve rewrite does; if only another program has the previous
policy, no file is rewritten. It first prints the predicted change of reads and memory. No process
may have the database open. Skip indexes stay; stock RocksDB ignores them, and treats blocksieve
filters as matching every key until it rewrites the file.

Examples:
  blocksieve revert --db paths.db --dry-run
  blocksieve revert --db paths.db)help";

struct RevertOptions {
  RewriteSettings settings;
  std::optional<std::string> policy;
};

// Prevents OPTIONS files from naming a policy that no program has, or that builds no filters.
std::string KnownPolicy(const std::string& policy) {
  const auto kind = rocksdb_plugin::Judge(policy).kind;
  if (kind == rocksdb_plugin::PolicyEffect::kNone || kind == rocksdb_plugin::PolicyEffect::kBuilds)
    return "";
  return fmt::format(
      "{}; allowed: policies of this RocksDB, such as bloomfilter:10:false, ribbonfilter:10 and "
      "nullptr",
      term::Shown(policy));
}

constexpr const char* kSubject = "Going back to stock filters";

/// Prints the predicted effect before it writes the options, and returns the name of the file.
std::string WriteStockOptions(const RevertOptions& options, const DatabaseLock& lock,
                              const StoredDatabase& stored, const StockOptions& stock) {
  const OptionsText& file = stock.options.text;
  const std::string changes = stock.options.ChangesText();
  std::string text = PredictionText(PlanRevert(options.settings.request, file), kSubject);
  std::string written = changes.empty() ? "" : WriteNextOptions(lock.env(), stored, file);
  if (!written.empty()) {
    text += fmt::format("Changes of {}:\n{}written: {}\n\n", file.name(), changes, written);
  }
  if (options.settings.format == OutputFormat::kText) term::WriteToStandardOutput(text);
  return written;
}

/// The previous policies that this program does not have, by requested family.
std::map<std::string, std::string> UnknownPolicies(const StockOptions& stock) {
  std::map<std::string, std::string> unknown;
  for (const std::string& family : stock.families) {
    const auto policy = stock.options.Find(OptionsSection::Table(family), "filter_policy");
    if (rocksdb_plugin::Judge(policy.value_or("")).kind == rocksdb_plugin::PolicyEffect::kForeign) {
      unknown[family] = *policy;
    }
  }
  return unknown;
}

/// Reports that only the options were restored.
void ReportNoRewrite(const RewriteSettings& settings, const std::string& unknown_policy) {
  nlohmann::ordered_json document = settings.about_options;
  document["files_rewritten"] = 0;
  document["unknown_policy"] = unknown_policy;
  term::WriteToStandardOutput(
      settings.format == OutputFormat::kJson
          ? JsonLine(document)
          : fmt::format(
                "filter_policy is {}, which this program does not have, so no file is rewritten.\n"
                "Without blocksieve, the current filters match every key until the program that "
                "has this policy rewrites the files.\n",
                unknown_policy));
}

void RunRevert(const RevertOptions& options) {
  RewriteSettings settings = options.settings;
  const RewriteRequest& request = settings.request;
  CheckDatabase(request.database);
  std::optional<DatabaseLock> lock;
  if (!settings.is_dry_run) lock.emplace(request.database);
  const StoredDatabase stored = ReadStored(request.database);
  const StockOptions stock = FindStockOptions(stored, options.policy, request.family);
  const OptionsText& file = stock.options.text;
  // Nothing is written, unless all of it can be.
  const auto unknown = UnknownPolicies(stock);
  CheckWritable(WithText(request.database, file),
                {.family = request.family, .drops_properties = request.drops_properties});
  for (const std::string& note : stock.notes)
    term::WriteToStandardError("blocksieve: " + note + "\n");
  const std::string written =
      settings.is_dry_run ? "" : WriteStockOptions(options, *lock, stored, stock);
  lock.reset();  // rewriting opens the database
  settings.about_options = DescribeChanges(file, written);
  if (unknown.size() == stock.families.size() && !settings.is_dry_run) {
    ReportNoRewrite(settings, unknown.begin()->second);
  } else {
    RewriteFiles(settings, kSubject, [&] {
      RewritePlan plan = PlanRevert(request, file);
      if (settings.is_dry_run) return plan;
      std::erase_if(plan.rewrites, [&](const FileToRewrite& rewrite) {
        return unknown.contains(rewrite.file->place.family);
      });
      std::erase_if(plan.predictions,
                    [&](const auto& prediction) { return unknown.contains(prediction.family); });
      return plan;
    });
  }
  if (!settings.is_dry_run) {
    return RemoveKeptOptions(DatabaseLock(request.database), ReadStored(request.database),
                             stock.families);
  }
  if (settings.format == OutputFormat::kJson) return;
  const std::string changes = stock.options.ChangesText();
  if (!changes.empty()) {
    term::WriteToStandardOutput(fmt::format("\nChanges of {}:\n{}", file.name(), changes));
  }
  term::WriteToStandardOutput("Nothing was written.\n");
}

}  // namespace

void AddRevertCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "revert", "Restore the filters of stock RocksDB", kRevertFooter, RunRevert);
  AddRewriteOptions(command, &options->settings);
  AddOption(command, &options->policy, "--filter-policy POLICY",
            "the policy to set; nullptr: no filters (default the previous one)", KnownPolicy);
}

}  // namespace blocksieve::cli
