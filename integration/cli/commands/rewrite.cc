// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/commands/rewrite.h"

#include <rocksdb/rate_limiter.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <utility>

#include "integration/cli/maintenance/options_change.h"
#include "integration/cli/maintenance/skip_indexes.h"

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
    text += fmt::format(
        "Prefixes, range filters or block indexes change in {}; filter bytes are those for keys.\n",
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

// The files and their trees, and a plan for each that changes nothing.
RewritePlan ReadFiles(const Target& target) {
  TargetFiles files = FindFiles(target);
  RewritePlan plan;
  plan.files = files.ReadReports("looking at filters");
  files.FailIfUnopened();
  plan.trees = rocksdb_plugin::BuildTrees(plan.files);
  plan.plans.resize(plan.trees.size());
  return plan;
}

// Adds the plan of a tree, if it changes something. `new_parts` as in FileToRewrite.
void AddPlan(size_t tree, FilterPlan&& of_tree, const std::string& new_parts, RewritePlan* plan) {
  if (of_tree.changes.empty()) return;
  const Tree& current = plan->trees[tree];
  FilterPlan& changed = plan->plans[tree] = std::move(of_tree);
  for (FileToRewrite& file : rocksdb_plugin::FilesToRewrite(plan->files, current, changed)) {
    if (file.change.changes_parts) file.new_parts = new_parts;
    plan->rewrites.push_back(std::move(file));
  }
  std::ranges::stable_sort(plan->rewrites, FilterChange::SavesMore, &FileToRewrite::change);
  plan->predictions.push_back({.family = current.name(),
                               .num_keys = current.num_keys(),
                               .current = Predict({&current, 1}, 1)});
}

// Whether `revert` rewrites the file: it has a blocksieve filter, or none, as blocksieve left it
// out or a process wrote it that lacked the plug-in. `stock`: what will read the file.
bool IsToRevert(const FileReport& file, const rocksdb_plugin::FilterReader& stock,
                bool had_policy) {
  if (file.filter.origin == FilterOrigin::kBlocksieve) return true;
  return rocksdb_plugin::JudgeFilter(file, stock) == rocksdb_plugin::FilterState::kMissing &&
         stock.kind != rocksdb_plugin::FilterReader::Kind::kNone &&
         (had_policy || file.filter.policy == rocksdb_plugin::Policy::kName);
}

// Cancels what runs. A compaction that waits for the rate limiter does not notice it.
void Stop(const GuardedDb& db) {
  constexpr int64_t kNoLimit = int64_t{1} << 40;
  db->DisableManualCompaction();
  const auto limiter = db->GetDBOptions().rate_limiter;
  if (limiter != nullptr) limiter->SetBytesPerSecond(kNoLimit);
}

// Plans to build the filters that the OPTIONS file requests. Throws Failure if it has no
// blocksieve policy.
RewritePlan PlanForOptions(const Target& target, const RewriteFiltersOptions& options) {
  RewritePlan plan = ReadFiles(target);
  const StoredDatabase stored = ReadStored(target);
  const auto is_ours = [](const rocksdb::ColumnFamilyOptions& family) {
    return FindPolicy(family) != nullptr || rocksdb_plugin::FindBlockIndexOptions(family);
  };
  const bool has_ours = std::ranges::any_of(stored.loaded.families, is_ours,
                                            &rocksdb::ColumnFamilyDescriptor::options);
  for (size_t i = 0; i < plan.trees.size(); ++i) {
    const Tree& tree = plan.trees[i];
    const rocksdb::ColumnFamilyOptions* const family = stored.Find(tree.name());
    const bool changes = family != nullptr && is_ours(*family);
    if (!changes && (target.family || !has_ours)) {
      const bool has_filters = std::ranges::any_of(plan.files, [](const FileReport& file) {
        return file.filter.origin == FilterOrigin::kBlocksieve;
      });
      term::Fail(
          "the OPTIONS file of database {} has no blocksieve policy or index{}; set one with "
          "blocksieve enable{}",
          target.path, target.family ? " for column family " + *target.family : "",
          has_filters ? ", or restore the filters of stock RocksDB with blocksieve revert" : "");
    }
    if (!changes || tree.num_keys() == 0) continue;
    Result<FilterPlan> planned =
        rocksdb_plugin::PlanColumnFamily(plan.files, tree, *family, options,
                                         KeysInFiles("looking at keys"), {}, {}, &plan.not_better);
    if (!planned.ok()) term::Fail("column family {}: {}", tree.name(), planned.status().message());
    AddPlan(i, *std::move(planned), rocksdb_plugin::PartsText(*family), &plan);
    if (plan.plans[i].changes.empty()) continue;
    plan.predictions.back().projected = Predict({&tree, 1}, {&plan.plans[i], 1}, 1);
  }
  return plan;
}

// Opens a database whose files can be rewritten one by one, with the options of its OPTIONS file
// and, where these define none, its current skip indexes. RocksDB starts no compactions of its
// own. Flushes the families of the target. `bytes_per_second` limits writing; 0: no limit.
GuardedDb OpenToRewrite(const Target& target, uint64_t bytes_per_second) {
  const StoredDatabase stored = ReadStored(target);
  CheckWritable(stored, Access::kRewrite);
  UsedOptions options = OptionsToWrite(stored, Access::kRewrite, StandInPolicies(stored));
  if (bytes_per_second != 0) {
    options.db.rate_limiter.reset(
        rocksdb::NewGenericRateLimiter(static_cast<int64_t>(bytes_per_second)));
  }
  for (rocksdb::ColumnFamilyDescriptor& family : options.families) {
    const auto index = NewIndexFactory(stored, family.name);
    if (index != nullptr) SetIndex(index, &family.options);
    // RocksDB ignores all listeners of an OPTIONS file if it does not know one.
    AddListenerFor(family.options, &options.db);
  }
  GuardedDb db(target, std::move(options));
  if (!target.family) return db;
  term::CheckOk(db->Flush(rocksdb::FlushOptions(), db.FindHandle(*target.family)),
                "cannot write database {}", target.path);
  return db;
}

// Rewrites the files of the plan in order, each on its level; see RewriteFiles. Calls `show` ten
// times a second and at the end; if it returns false, stops at once and returns false.
bool ExecutePlan(const GuardedDb& db, const RewritePlan& plan, const ShowProgress& show) {
  constexpr uint64_t kNoLimit = 0;  // the database has a rate limiter
  std::mutex mutex;
  FileProgress last;  // of the thread that compacts
  bool was_stopped = false;
  const rocksdb::Status status = db.Compact(
      [&] {
        FileProgress progress;
        std::set<std::string> written;
        const auto report = [&](const FileProgress& done) {
          const std::lock_guard lock(mutex);
          last = done;
          return !was_stopped;
        };
        rocksdb::Status result = rocksdb_plugin::RewriteFiles(
            db.get(), plan.rewrites,
            [&](const std::string& family) { return db.FindHandle(family); }, kNoLimit, report,
            &written, &progress);
        report(progress);
        return result;
      },
      [&](uint64_t all_written) {
        const std::lock_guard lock(mutex);
        // Output has nearly the size of the old file.
        FileProgress now = last;
        const uint64_t part =
            std::min(all_written - std::min(all_written, last.bytes_done), now.bytes_left);
        now.bytes_done += part;
        now.bytes_left -= part;
        if (was_stopped || show(now)) return;
        was_stopped = true;
        Stop(db);
      });
  show(last);
  if (!was_stopped) term::CheckOk(status, "cannot rewrite database {}", db->GetName());
  db.CheckRefused();
  return status.ok();
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

RewritePlan PlanRevert(const Target& target, const RewriteFiltersOptions& options,
                       const OptionsText& stock) {
  RewritePlan plan = ReadFiles(target);
  const StoredDatabase reverted = WithText(target, stock);
  for (size_t i = 0; i < plan.trees.size(); ++i) {
    const Tree& tree = plan.trees[i];
    const auto policy = rocksdb_plugin::Judge(
        stock.Find(OptionsSection::Table(tree.name()), "filter_policy").value_or("nullptr"));
    if (policy.kind == rocksdb_plugin::PolicyEffect::kForeign || tree.num_keys() == 0) continue;
    const bool had_policy = policy.builds() && HadPolicy(target, tree.name());
    const rocksdb_plugin::FilterReader reader =
        rocksdb_plugin::ReaderOf(*reverted.Find(tree.name()));
    std::vector<FilterChange> changes;
    for (size_t number = 0; number < tree.files().size(); ++number) {
      const TreeFile& of_tree = tree.files()[number];
      const FileReport& file = plan.files[of_tree.id];
      if (!IsToRevert(file, reader, had_policy) || !rocksdb_plugin::IsChosen(options, file))
        continue;
      changes.push_back({number, file.filter.predicted_fpr, of_tree.filter_bytes});
    }
    AddPlan(i, PlanChanges(tree, std::move(changes)), "", &plan);
  }
  return plan;
}

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
