// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "integration/cli/commands/rewrite.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/maintenance/options_change.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kRevertFooter =
    R"help(Restores the filter policy that the database had before blocksieve apply, or --filter-policy, in the
next OPTIONS file, even if a program without the plug-in has since written OPTIONS without it; a
stock policy that was set since stays, and a database without filters gets none. If that policy
builds no filters, such as rocksdb.BuiltinBloomFilter of RocksDB 6, or bloomfilter without bits per
key, which programs with the C API leave, it takes the bits per key that the files had, and says so.
Then rewrites the files with blocksieve filters, and those that lack filters because of such a
program, as blocksieve rewrite does; if only another program has the previous policy, no file is
rewritten. No process may have the database open. Skip indexes stay, and their sidecars (*.bsx) may
be deleted; stock RocksDB ignores them, and treats blocksieve filters as matching every key until it
rewrites the file.

Examples:
  blocksieve revert --db paths.db --dry-run
  blocksieve revert --db paths.db)help";

/// A previous policy that only another program has, if all requested families have one.
std::optional<std::string> UnknownPolicy(const OptionsText& stock,
                                         const std::vector<std::string>& families) {
  std::optional<std::string> policy;
  for (const std::string& family : families) {
    policy = stock.Find(OptionsSection::Table(family), "filter_policy");
    if (rocksdb_plugin::Judge(policy.value_or("")).kind != rocksdb_plugin::PolicyEffect::kForeign) {
      return std::nullopt;
    }
  }
  return policy;
}

void RunRevert(const ChangeOptions& options) {
  const Target& target = options.target;
  std::optional<DatabaseLock> lock;
  if (!options.is_dry_run) lock.emplace(target);
  const StoredDatabase stored = ReadStored(target);
  std::vector<std::string> notes;
  const OptionsText stock = StockOptions(stored, options.stock_policy, &notes);
  // Nothing is written, unless all of it can be.
  CheckWritable(WithText(target, stock), Access::kRewrite);
  for (const std::string& note : notes) term::WriteToStandardError("blocksieve: " + note + "\n");
  const auto make_plan = [&] { return PlanRevert(target, options.files, stock); };
  RewritePlan before = make_plan();  // the filters as programs read them now
  const bool is_text = options.format == "text";
  const std::string changes = ChangesText(stock);
  const std::string written =
      options.is_dry_run || changes.empty() ? "" : WriteNextOptions(lock->env(), stored, stock);
  lock.reset();  // rewriting opens the database
  if (is_text && !changes.empty()) {
    term::WriteToStandardOutput(
        fmt::format("Changes of {}:\n{}{}\n", stock.name(), changes,
                    written.empty() ? "" : fmt::format("written: {}\n", written)));
  }
  Json document = DescribeChanges(stock, written);
  if (const std::optional<std::string> unknown = UnknownPolicy(stock, stored.TargetFamilies())) {
    document.update({{"files_rewritten", 0}, {"unknown_policy", *unknown}});
    WriteReport(options.format, document,
                fmt::format("filter_policy is {}, which this program does not have, so no file is "
                            "rewritten.\nWithout blocksieve, the current filters match every key "
                            "until the program that has this policy rewrites the files.\n",
                            *unknown));
  } else {
    RewriteFiles(options, document, std::move(before), make_plan);
  }
  if (!options.is_dry_run) {
    return RemoveKeptOptions(DatabaseLock(target), ReadStored(target));
  }
  if (is_text) term::WriteToStandardOutput("Nothing was written.\n");
}

}  // namespace

void AddRevertCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "revert", "Restore the filters of stock RocksDB", kRevertFooter, RunRevert);
  AddRewriteOptions(command, options);
  AddOption(command, &options->stock_policy, "--filter-policy POLICY",
            "the policy to set; nullptr: no filters (default the previous one)", KnownPolicy);
}

}  // namespace blocksieve::cli
