// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/commands/rewrite_files.h"
#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kRewriteFooter =
    R"help(New filter options take effect in a file only when the file is rewritten. rewrite finds the files
whose filters would improve under the options in the OPTIONS file (see blocksieve apply --help) and
rewrites only these, each on its level: first those that save most reads, then those that save most
memory. A filter improves if it wastes at least 5 % fewer reads or takes at least 5 % less memory.
Files whose range filters or prefixes were built with other options are rewritten, too. With
bits_per_key or wasted_reads, the planned FPR of each level changes a little with every compaction,
so reads and memory together must improve by 5 %, for this file or for all.

No process may have the database open; RewriteFilters in blocksieve/rocksdb.h does the same inside a
process that has. RocksDB compacts nothing meanwhile. If it was interrupted or killed, run it again
to rewrite the remaining files. Skip indexes are kept. Before RocksDB 7.10, files with
operands of a merge operator that only its own program has are refused; databases with a comparator
of their own program always are.

At the end it reports the wasted reads per lookup of an absent key, by the model of the filters, and
the memory of filters before and after rewriting.

Examples:
  blocksieve rewrite --db paths.db --dry-run
  blocksieve rewrite --db paths.db --bytes-per-second 50MB)help";

constexpr const char* kInProcess =
    "\nOr rewrite the files in that process, which needs no stop:\n"
    "  status = blocksieve::RewriteFilters(db, family, {.bytes_per_second = 50'000'000});";

void RunRewrite(const ChangeOptions& options) {
  CheckDatabase(options.target);
  if (!options.is_dry_run) const DatabaseLock lock(options.target, kInProcess);
  CheckWritable(ReadStored(options.target), Access::kRewrite);
  RewriteFiles(options, {}, [&] { return PlanRewrite(options.target, options.files); });
}

}  // namespace

void AddRewriteCommand(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddSubcommand(app, action, "rewrite", "Rewrite the files whose filters would improve",
                    kRewriteFooter, RunRewrite);
  AddRewriteOptions(command, options);
  AddFlag(command, &options->files.only_unfiltered, "--only-unfiltered",
          "only files without a working filter");
}

}  // namespace blocksieve::cli
