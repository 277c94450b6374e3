#include "integration/cli/commands/rewrite_files.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "integration/cli/database/json_table.h"
#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

struct Rewritten {
  uint64_t num_files = 0;
  uint64_t num_bytes = 0;
  double seconds = 0;
  std::vector<FamilyPrediction> families = {};
};

uint64_t SumOfBytes(const RewritePlan& plan) {
  uint64_t sum = 0;
  for (const FileToRewrite& each : plan.rewrites) sum += each.file->num_bytes;
  return sum;
}

bool HasNewParts(const FileToRewrite& file) { return !file.new_parts.empty(); }

Json ToJson(const Prediction& prediction, uint64_t num_keys) {
  return {{"wasted_reads_absent", prediction.wasted_reads_absent},
          {"filter_bytes", prediction.filter_bytes},
          {"bits_per_key", 8 * term::Ratio(prediction.filter_bytes, num_keys)}};
}

Json PredictionJson(const FamilyPrediction& prediction) {
  const Json after =
      prediction.is_known ? ToJson(prediction.projected, prediction.num_keys) : Json();
  return {{"family", prediction.family},
          {"num_keys", prediction.num_keys},
          {"before", ToJson(prediction.current, prediction.num_keys)},
          {"after", after}};
}

// The names of the rows; none for unknown filters.
std::string TableOf(const FamilyPrediction& prediction, const char* before, const char* after) {
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

Json RewriteJson(const FileToRewrite& rewrite) {
  return {{"path", rewrite.file->place.path},
          {"level", rewrite.file->place.level},
          {"num_bytes", rewrite.file->num_bytes},
          {"saved_reads", rewrite.change.saved_reads},
          {"saved_filter_bytes", rewrite.change.saved_bytes},
          {"new_parts", rewrite.new_parts}};
}

Json ToJson(const RewritePlan& plan) {
  return {{"num_bytes", SumOfBytes(plan)},
          {"families", ArrayOf(plan.predictions, PredictionJson)},
          {"files", ArrayOf(plan.rewrites, RewriteJson)}};
}

std::string ToText(const RewritePlan& plan, const std::string& subject) {
  std::vector<TableColumn> columns = {{"file", "/path", FileNameText},
                                      {"level", "/level", PlainText},
                                      {"bytes", "/num_bytes", CountText},
                                      {"saved reads", "/saved_reads", ReadsText},
                                      {"saved filter bytes", "/saved_filter_bytes", CountText}};
  if (std::any_of(plan.rewrites.begin(), plan.rewrites.end(), HasNewParts)) {
    columns.push_back({"new prefixes and ranges", "/new_parts", PlainText});
  }
  return fmt::format("{}{}\n{} with {} bytes would be rewritten.\n", PredictionText(plan, subject),
                     TableText(std::move(columns), ArrayOf(plan.rewrites, RewriteJson)),
                     term::CountOf(plan.rewrites.size(), "file"),
                     term::WithCommas(SumOfBytes(plan)));
}

Json ToJson(const Rewritten& rewritten) {
  return {{"files_rewritten", rewritten.num_files},
          {"bytes_rewritten", rewritten.num_bytes},
          {"families", ArrayOf(rewritten.families, PredictionJson)}};
}

std::string ToText(const Rewritten& rewritten) {
  std::string text = fmt::format("Rewrote {} with {} bytes in {:.1f} s.\n",
                                 term::CountOf(rewritten.num_files, "file"),
                                 term::WithCommas(rewritten.num_bytes), rewritten.seconds);
  for (const FamilyPrediction& family : rewritten.families) {
    if (rewritten.families.size() > 1) text += "\nColumn family " + family.family + ":\n";
    text += "\n" + TableOf(family, "before", "after");
  }
  return text;
}

std::string JsonOf(const RewriteSettings& settings, const Json& report) {
  Json document = settings.about_options;
  document.update(report);
  return JsonLine(document);
}

// Fails if rewriting would lose an index that only the program of the database can build.
void CheckIndexes(const RewriteRequest& request, const RewritePlan& plan) {
  for (const FileReport& file : plan.files) {
    for (const IndexColumnReport& column : file.index.columns) {
      if (request.drops_properties || Column::Parse(column.definition).ok()) continue;
      term::Fail(
          "column family {} has the skip index {}, which only its own program can build; select "
          "another one with --column-family, or use --drop-properties",
          file.place.family, column.definition);
    }
  }
}

term::Interrupted Interruption(const std::string& done) {
  return term::Interrupted(fmt::format("interrupted; {}; run it again to continue", done));
}

void WaitForCompactions(FileRewriter* rewriter, const Rewritten& done) {
  term::Progress line;
  const bool is_quiet = rewriter->WaitForCompactions([&](uint64_t bytes) {
    line.Show(fmt::format("waiting for compactions of RocksDB: about {:.1f} MB left",
                          static_cast<double>(bytes) / 1e6));
    return !term::InterruptFlag();
  });
  if (!is_quiet) throw Interruption(term::CountOf(done.num_files, "file") + " rewritten");
}

void DoRewrite(const RewritePlan& plan, FileRewriter* rewriter, Rewritten* done) {
  const BackfillProgress last =
      RunInterruptibly("rewriting", "rewritten", done->num_files,
                       [&](const ShowProgress& show) { return rewriter->Rewrite(plan, show); });
  done->num_files += last.files_done;
  done->num_bytes += last.bytes_done;
}

// Adds the families that the plan changes, unless they are known. Fails if it cannot change one.
void AddFamilies(const RewriteRequest& request, const RewritePlan& plan,
                 std::vector<FamilyPrediction>* families) {
  CheckIndexes(request, plan);
  for (const FamilyPrediction& prediction : plan.predictions) {
    if (std::ranges::find(*families, prediction.family, &FamilyPrediction::family) ==
        families->end()) {
      families->push_back(prediction);
    }
  }
}

}  // namespace

std::string PredictionText(const RewritePlan& plan, const std::string& subject) {
  std::string text;
  for (const FamilyPrediction& prediction : plan.predictions) {
    text +=
        fmt::format("{} gives {}{}.\n\n{}\n", subject,
                    prediction.is_known ? DifferenceText(prediction.current, prediction.projected)
                                        : "filters of a policy that this program does not have",
                    plan.predictions.size() == 1 ? "" : ", in column family " + prediction.family,
                    TableOf(prediction, "current", "projected"));
  }
  const auto num_files = std::count_if(plan.rewrites.begin(), plan.rewrites.end(), HasNewParts);
  if (num_files == 0) return text;
  return text + fmt::format("Prefixes or range filters change in {}.\n",
                            term::CountOf(static_cast<uint64_t>(num_files), "file"));
}

BackfillProgress RunInterruptibly(const char* doing, const char* done, uint64_t before,
                                  const std::function<bool(const ShowProgress& show)>& work) {
  term::CatchInterrupts();
  term::Progress line;
  BackfillProgress last;
  const bool is_done = work([&](const BackfillProgress& progress) {
    last = progress;
    line.Show(fmt::format("{}, {} of {}", doing, term::WithCommas(last.files_done),
                          term::CountOf(last.files_done + last.files_left, "file")),
              {last.bytes_done, last.bytes_done + last.bytes_left, last.bytes_done, "byte"});
    return !term::InterruptFlag();
  });
  if (is_done) return last;
  throw Interruption(fmt::format("{} {}, {} left", term::CountOf(before + last.files_done, "file"),
                                 done, last.files_left));
}

void AddRewriteOptions(CLI::App* command, RewriteSettings* settings) {
  AddDatabaseOption(command, &settings->request.database);
  AddFamilyOption(command, &settings->request.family);
  AddOption(command, &settings->request.files.level, "--level N", "only files of this level",
            WholeInRange(0, 100));
  AddRateOption(command, &settings->bytes_per_second, "write");
  AddDropOption(command, &settings->request.drops_properties);
  AddFlag(command, &settings->is_dry_run, "--dry-run",
          "list the files in the order of rewriting, and rewrite none");
  AddFormatOption(command, &settings->format);
}

void RewriteFiles(const RewriteSettings& settings, const std::string& subject,
                  const std::function<RewritePlan()>& make_plan) {
  const bool is_text = settings.format == OutputFormat::kText;
  if (settings.is_dry_run) {
    const RewritePlan plan = make_plan();
    return term::WriteToStandardOutput(is_text ? ToText(plan, subject)
                                               : JsonOf(settings, ToJson(plan)));
  }
  const RewriteRequest& request = settings.request;
  term::CatchInterrupts();
  Rewritten done;
  // RocksDB may compact as soon as the database is open.
  AddFamilies(request, make_plan(), &done.families);
  // Opening flushes the WAL to files, which the plan must include.
  std::optional<FileRewriter> rewriter(std::in_place, request, settings.bytes_per_second);
  WaitForCompactions(&*rewriter, done);
  RewritePlan plan = make_plan();
  AddFamilies(request, plan, &done.families);
  if (done.families.empty() && is_text) {
    return term::WriteToStandardOutput("Nothing to rewrite: no file needs another filter.\n");
  }
  const auto begin = std::chrono::steady_clock::now();
  // Compactions of RocksDB change the tree, so plan again until nothing is left. Without them the
  // second plan is empty; the limit is for a tree that never comes to rest.
  constexpr int kMaxRounds = 5;
  for (int round = 1; round <= kMaxRounds && !plan.rewrites.empty(); ++round) {
    DoRewrite(plan, &*rewriter, &done);
    WaitForCompactions(&*rewriter, done);
    plan = make_plan();
  }
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  rewriter.reset();
  for (FamilyPrediction& family : done.families) {
    const auto tree = std::ranges::find(plan.trees, family.family, &Tree::name);
    if (tree != plan.trees.end()) family.projected = Predict({&*tree, 1}, 1);
    family.is_known = true;
  }
  term::WriteToStandardOutput(is_text ? ToText(done) : JsonOf(settings, ToJson(done)));
}

}  // namespace blocksieve::cli
