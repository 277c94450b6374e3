// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/commands/rewrite.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace blocksieve::cli {
namespace {

constexpr const char* kRewriteFooter =
    R"help(New filter options take effect in a file only when the file is rewritten. rewrite finds the files
whose filters would improve under the options in the OPTIONS file (see blocksieve apply --help) and
rewrites only these, each on its level: first those that save most reads, then those that save most
memory. A filter improves if it wastes at least 5 % fewer reads or takes at least 5 % less memory.
Files whose range filters or prefixes were built with other options are rewritten, too, and those
without the block index that the OPTIONS file names. With bits_per_key or wasted_reads, the planned
FPR of each level changes a little with every compaction, so reads and memory together must improve
by 5 %, for this file or for all.

No process may have the database open; RewriteFilters in blocksieve/rocksdb.h does the same inside a
process that has. RocksDB compacts nothing meanwhile. If it was interrupted or killed, run it again
to rewrite the remaining files. Skip indexes are kept. Before RocksDB 7.10, files with
operands of a merge operator that only its own program has are refused; databases with a comparator
of their own program always are.

Files for which RocksDB builds no better filter, such as with too small a max_build_bytes, stay as
they are, and are counted.

At the end it reports the wasted reads per lookup of an absent key, by the model of the filters, and
the memory of filters before and after rewriting.

Examples:
  blocksieve rewrite --db paths.db --dry-run
  blocksieve rewrite --db paths.db --bytes-per-second 50MB)help";

constexpr const char* kInProcess =
    "\nOr rewrite the files in that process, which needs no stop:\n"
    "  status = blocksieve::RewriteFilters(db, families, {.bytes_per_second = 50'000'000});";

uint64_t SumOfBytes(const RewritePlan& plan) {
  uint64_t sum = 0;
  for (const FileToRewrite& each : plan.rewrites) sum += each.file->num_bytes;
  return sum;
}

Json ToJson(const Prediction& prediction, uint64_t num_keys) {
  return {{"wasted_reads_absent", prediction.wasted_reads_absent},
          {"filter_bytes", prediction.filter_bytes},
          {"bits_per_key", 8 * Ratio(prediction.filter_bytes, num_keys)}};
}

Json PredictionJson(const FamilyPrediction& prediction) {
  const auto& projected = prediction.projected;
  return {{"family", prediction.family},
          {"num_keys", prediction.num_keys},
          {"before", ToJson(prediction.current, prediction.num_keys)},
          {"after", projected ? ToJson(*projected, prediction.num_keys) : Json()}};
}

// The names of the rows; none for unknown filters.
std::string FormatTable(const FamilyPrediction& prediction, const char* before, const char* after) {
  const Json document = PredictionJson(prediction);
  Json rows = Json::array();
  for (const auto& [name, when] : {std::pair{before, "before"}, {after, "after"}}) {
    if (document[when].is_null()) continue;
    rows.push_back({{"name", name}});
    rows.back().update(document[when]);
  }
  return TableText({{"", "/name", PlainText},
                    {"wasted reads", "/wasted_reads_absent", ReadsText},
                    {"filter bytes", "/filter_bytes", CountText},
                    {"bits/key", "/bits_per_key", BitsPerKeyText}},
                   rows);
}

Json ToJson(const RewritePlan& plan) {
  // What goes back to a stock policy is not predicted.
  const bool is_predicted = !plan.predictions.empty() && plan.predictions[0].projected;
  const Json files = ToArray(plan.rewrites, [&](const FileToRewrite& rewrite) -> Json {
    const FilterChange& change = rewrite.change;
    return {{"path", rewrite.file->place.path},
            {"level", rewrite.file->place.level},
            {"num_bytes", rewrite.file->num_bytes},
            {"saved_reads", is_predicted ? Json(change.saved_reads) : Json()},
            {"saved_filter_bytes", is_predicted ? Json(change.saved_bytes) : Json()},
            {"new_parts", rewrite.new_parts}};
  });
  return {{"num_bytes", SumOfBytes(plan)},
          {"files_not_better", plan.not_better.size()},
          {"families", ToArray(plan.predictions, PredictionJson)},
          {"files", files}};
}

std::string ToText(const RewritePlan& plan) {
  std::string text;
  for (const FamilyPrediction& prediction : plan.predictions) {
    if (!prediction.projected) continue;
    text += fmt::format(
        "Rewriting gives {}{}.\n\n{}\n", DifferenceText(prediction.current, *prediction.projected),
        plan.predictions.size() == 1 ? "" : ", in column family " + prediction.family,
        FormatTable(prediction, "current", "projected"));
  }
  std::vector<TableColumn> columns = {{"file", "/path", FileNameText},
                                      {"level", "/level", PlainText},
                                      {"bytes", "/num_bytes", CountText}};
  if (!text.empty()) {
    columns.push_back({"saved reads", "/saved_reads", ReadsText});
    columns.push_back({"saved filter bytes", "/saved_filter_bytes", CountText});
  }
  const auto num_files = std::ranges::count_if(
      plan.rewrites, [](const FileToRewrite& file) { return !file.new_parts.empty(); });
  if (num_files != 0) {
    text += fmt::format("Prefixes, range filters or block indexes change in {}.\n",
                        term::CountOf(static_cast<uint64_t>(num_files), "file"));
    columns.push_back({"new prefixes, ranges, index", "/new_parts", PlainText});
  }
  return fmt::format("{}{}\n{} with {} bytes would be rewritten.\n{}", text,
                     TableText(std::move(columns), ToJson(plan)["files"]),
                     term::CountOf(plan.rewrites.size(), "file"),
                     term::WithCommas(SumOfBytes(plan)),
                     rocksdb_plugin::NotBetterText(plan.not_better));
}

std::string ToText(const FileProgress& done, double seconds,
                   const std::vector<FamilyPrediction>& families) {
  std::string text =
      fmt::format("Rewrote {} with {} bytes in {:.1f} s.\n", term::CountOf(done.files_done, "file"),
                  term::WithCommas(done.bytes_done), seconds);
  for (const FamilyPrediction& family : families) {
    if (families.size() > 1) text += "\nColumn family " + family.family + ":\n";
    text += "\n" + FormatTable(family, "before", "after");
  }
  return text;
}

// Fails if rewriting would lose an index that only the program of the database can build.
void CheckIndexes(const Target& target, const RewritePlan& plan) {
  for (const FileReport& file : plan.files) {
    for (const IndexColumnInfo& column : file.index.columns) {
      if (target.drops_properties || Column::Parse(column.definition).ok()) continue;
      term::Fail(
          "column family {} has the skip index {}, which only its own program can build; select "
          "another one with --column-family, or use --drop-properties",
          file.place.family, column.definition);
    }
  }
}

// Adds the families that the plan changes, unless they are known. Fails if it cannot change one.
void AddFamilies(const Target& target, const RewritePlan& plan,
                 std::vector<FamilyPrediction>* families) {
  CheckIndexes(target, plan);
  for (const FamilyPrediction& prediction : plan.predictions) {
    if (std::ranges::find(*families, prediction.family, &FamilyPrediction::family) ==
        families->end()) {
      families->push_back(prediction);
    }
  }
}

void RunRewrite(const ChangeOptions& options) {
  if (!options.is_dry_run) const DatabaseLock lock(options.target, kInProcess);
  CheckWritable(ReadStored(options.target), Access::kRewrite);
  const auto make_plan = [&] { return PlanForOptions(options.target, options.files); };
  RewriteFiles(options, {}, make_plan(), make_plan);
}

}  // namespace

FileProgress RunInterruptibly(const char* doing,
                              const std::function<bool(const ShowProgress& show)>& work) {
  term::CatchInterrupts();
  term::Progress line;
  FileProgress last;
  const bool is_done = work([&](const FileProgress& progress) {
    last = progress;
    line.Show(fmt::format("{}, {} of {}", doing, term::WithCommas(last.files_done),
                          term::CountOf(last.files_done + last.files_left, "file")),
              last.bytes_done, last.bytes_done + last.bytes_left, last.bytes_done, "byte");
    return !term::InterruptFlag();
  });
  if (is_done) return last;
  throw term::Interrupted(fmt::format("interrupted; {} done, {} left; run it again to continue",
                                      term::CountOf(last.files_done, "file"), last.files_left));
}

void AddRewriteOptions(CLI::App* command, ChangeOptions* options) {
  AddTargetOptions(command, options, Subject::kDatabase);
  AddOption(command, &options->files.level, "--level N", "only files of this level",
            WholeInRange(0, 100));
  AddRateOption(command, &options->files.bytes_per_second, "write");
  AddDropOption(command, &options->target);
  AddOption(command, &options->is_dry_run, "--dry-run",
            "list the files in the order of rewriting, and rewrite none");
}

void RewriteFiles(const ChangeOptions& options, Json document, RewritePlan before,
                  const std::function<RewritePlan()>& make_plan) {
  if (options.is_dry_run) {
    document.update(ToJson(before));
    return WriteReport(options.format, document, ToText(before));
  }
  FileProgress done;
  std::vector<FamilyPrediction> families;
  AddFamilies(options.target, before, &families);
  const auto begin = std::chrono::steady_clock::now();
  {
    // Opening flushes the WAL to files, which the plan must include.
    const GuardedDb db = OpenToRewrite(options.target, options.files.bytes_per_second);
    const RewritePlan plan = make_plan();
    AddFamilies(options.target, plan, &families);
    done = RunInterruptibly("rewriting",
                            [&](const ShowProgress& show) { return ExecutePlan(db, plan, show); });
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  RewritePlan plan = make_plan();
  for (FamilyPrediction& family : families) {
    const auto tree = std::ranges::find(plan.trees, family.family, &Tree::name);
    if (tree != plan.trees.end()) family.projected = Predict({&*tree, 1}, 1);
  }
  document.update({{"files_rewritten", done.files_done},
                   {"files_not_better", plan.not_better.size()},
                   {"bytes_rewritten", done.bytes_done},
                   {"families", ToArray(families, PredictionJson)}});
  plan.not_better.resize(plan.not_better.size() + plan.rewrites.size(),
                         rocksdb_plugin::kNotAsPlanned);
  const std::string not_better = rocksdb_plugin::NotBetterText(plan.not_better);
  const char* const nothing = not_better.empty()
                                  ? "Nothing to rewrite: no file needs another filter.\n"
                                  : "Nothing was rewritten.\n";
  WriteReport(options.format, document,
              (families.empty() ? nothing : ToText(done, seconds.count(), families)) + not_better);
}

void AddRewriteCommand(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddSubcommand(app, action, "rewrite", "Rewrite the files whose filters would improve",
                    kRewriteFooter, RunRewrite);
  AddRewriteOptions(command, options);
  AddOption(command, &options->files.only_unfiltered, "--only-unfiltered",
            "only files without a working filter");
}

}  // namespace blocksieve::cli
