#include "integration/cli/commands/rewrite_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "integration/cli/database/json_table.h"
#include "integration/cli/database/stored_options.h"
#include "integration/cli/maintenance/file_rewriter.h"
#include "integration/cli/maintenance/measured_reads.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/interrupt.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

constexpr int kMaxLevel = 100;

// A column family before and after the rewrite.
struct RewrittenFamily {
  FamilyPrediction prediction;
  MeasuredReads before = {};
  MeasuredReads after = {};
  uint64_t bytes_after = 0;
};

struct Rewritten {
  uint64_t num_files = 0;
  uint64_t num_bytes = 0;
  double seconds = 0;
  std::vector<RewrittenFamily> families = {};
};

// The families that have a file to rewrite.
std::vector<FamilyPrediction> ChangedFamilies(const RewritePlan& plan) {
  std::set<std::string> names;
  for (const FileToRewrite& file : plan.rewrites) names.insert(file.place.family);
  std::vector<FamilyPrediction> changed;
  for (const FamilyPrediction& prediction : plan.predictions) {
    if (names.contains(prediction.family)) changed.push_back(prediction);
  }
  return changed;
}

uint64_t SumOfBytes(const RewritePlan& plan) {
  uint64_t sum = 0;
  for (const FileToRewrite& file : plan.rewrites) sum += file.num_bytes;
  return sum;
}

bool HasNewParts(const FileToRewrite& file) { return !file.new_parts.empty(); }

Json ToJson(const Prediction& prediction, uint64_t num_keys) {
  return {{"wasted_reads_absent", prediction.wasted_reads_absent},
          {"filter_bytes", prediction.filter_bytes},
          {"bits_per_key", 8 * term::Ratio(prediction.filter_bytes, num_keys)}};
}

Json ToJson(const FamilyPrediction& prediction) {
  const Json after =
      prediction.is_known ? ToJson(prediction.projected, prediction.num_keys) : Json();
  return {{"family", prediction.family},
          {"num_keys", prediction.num_keys},
          {"before", ToJson(prediction.current, prediction.num_keys)},
          {"after", after}};
}

Json ToJson(const RewritePlan& plan) {
  Json document = {{"num_bytes", SumOfBytes(plan)}};
  Json& families = document["families"] = Json::array();
  for (const FamilyPrediction& prediction : ChangedFamilies(plan)) {
    families.push_back(ToJson(prediction));
  }
  Json& files = document["files"] = Json::array();
  for (const FileToRewrite& file : plan.rewrites) {
    files.push_back({{"path", file.place.path},
                     {"level", file.place.level},
                     {"num_bytes", file.num_bytes},
                     {"saved_reads", file.saved_reads},
                     {"saved_filter_bytes", file.saved_bytes},
                     {"new_parts", file.new_parts}});
  }
  return document;
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
                     TableText(std::move(columns), ToJson(plan)["files"]),
                     term::CountOf(plan.rewrites.size(), "file"),
                     term::WithCommas(SumOfBytes(plan)));
}

Json ToJson(const MeasuredReads& reads) {
  return reads.num_lookups == 0 ? Json(nullptr) : Json(reads.PerLookup());
}

Json ToJson(const Rewritten& rewritten) {
  Json document = {{"files_rewritten", rewritten.num_files},
                   {"bytes_rewritten", rewritten.num_bytes}};
  Json& families = document["families"] = Json::array();
  for (const RewrittenFamily& family : rewritten.families) {
    const FamilyPrediction& prediction = family.prediction;
    const Json projected_reads =
        prediction.is_known ? Json(prediction.projected.wasted_reads) : Json(nullptr);
    families.push_back({{"family", prediction.family},
                        {"before",
                         {{"wasted_reads_predicted", prediction.current.wasted_reads},
                          {"wasted_reads_measured", ToJson(family.before)},
                          {"filter_bytes", prediction.current.filter_bytes}}},
                        {"after",
                         {{"wasted_reads_predicted", projected_reads},
                          {"wasted_reads_measured", ToJson(family.after)},
                          {"filter_bytes", family.bytes_after}}}});
  }
  return document;
}

std::string ToText(const Rewritten& rewritten) {
  const Json document = ToJson(rewritten);
  Json rows = Json::array();
  for (const Json& family : document["families"]) {
    const std::string name =
        rewritten.families.size() == 1 ? "" : PlainText(family["family"]) + " ";
    for (const char* const when : {"before", "after"}) {
      rows.push_back({{"name", name + when}});
      rows.back().update(family[when]);
    }
  }
  return fmt::format("Rewrote {} with {} bytes in {:.1f} s.\n\n{}",
                     term::CountOf(rewritten.num_files, "file"),
                     term::WithCommas(rewritten.num_bytes), rewritten.seconds,
                     TableText({{"", "/name", PlainText},
                                {"wasted reads\npredicted", "/wasted_reads_predicted", ReadsText},
                                {"\nmeasured", "/wasted_reads_measured", ReadsText},
                                {"filter bytes", "/filter_bytes", CountText}},
                               rows));
}

std::string JsonOf(const RewriteSettings& settings, const Json& report) {
  Json document = settings.about_options;
  document.update(report);
  return JsonLine(document);
}

// Only the skip indexes of the default column family can be rebuilt.
void CheckIndexes(const RewritePlan& plan) {
  for (const FileReport& file : plan.files) {
    if (file.index.num_granules == 0 || file.place.family == "default") continue;
    term::Fail(
        "column family {} has skip indexes, which only its own program can rebuild; select "
        "another one with --column-family",
        file.place.family);
  }
}

term::Interrupted Interruption(const Rewritten& done, const std::string& left) {
  return term::Interrupted(fmt::format("interrupted; {} rewritten{}; run it again to continue",
                                       term::CountOf(done.num_files, "file"), left));
}

void WaitForCompactions(FileRewriter* rewriter, const Rewritten& done) {
  term::Progress line;
  const bool is_quiet = rewriter->WaitForCompactions([&](uint64_t bytes) {
    line.Show(fmt::format("waiting for compactions of RocksDB: about {:.1f} MB left",
                          static_cast<double>(bytes) / 1e6));
    return !term::InterruptFlag();
  });
  line.Show("");
  if (!is_quiet) throw Interruption(done, "");
}

void DoRewrite(const RewritePlan& plan, FileRewriter* rewriter, Rewritten* done) {
  term::Progress line;
  BackfillProgress last;
  const bool is_done = rewriter->Rewrite(plan, [&](const BackfillProgress& progress) {
    last = progress;
    ShowRewriting(progress, &line);
    return !term::InterruptFlag();
  });
  line.Show("");
  done->num_files += last.files_done;
  done->num_bytes += last.bytes_done;
  if (!is_done) throw Interruption(*done, fmt::format(", {} left", last.files_left));
}

// Adds the families that the plan changes, unless they are known. Fails if it cannot change one.
void MeasureBefore(const std::string& database, const RewritePlan& plan,
                   std::vector<RewrittenFamily>* families) {
  CheckIndexes(plan);
  term::Progress line;
  for (FamilyPrediction& prediction : ChangedFamilies(plan)) {
    const bool is_known = std::any_of(families->begin(), families->end(), [&](const auto& family) {
      return family.prediction.family == prediction.family;
    });
    if (is_known) continue;
    line.Show("measuring reads before");
    const MeasuredReads before = MeasureReads(database, prediction.family);
    families->push_back({.prediction = std::move(prediction), .before = before});
  }
  line.Show("");
}

// Takes the projected filters of a later round.
void UpdatePredictions(const RewritePlan& plan, std::vector<RewrittenFamily>* families) {
  for (RewrittenFamily& family : *families) {
    for (const FamilyPrediction& prediction : plan.predictions) {
      if (prediction.family == family.prediction.family)
        family.prediction.projected = prediction.projected;
    }
  }
}

}  // namespace

std::string PredictionText(const RewritePlan& plan, const std::string& subject) {
  std::string text;
  const std::vector<FamilyPrediction> families = ChangedFamilies(plan);
  for (const FamilyPrediction& prediction : families) {
    const Json document = ToJson(prediction);
    Json rows = Json::array();
    for (const auto& [name, when] : {std::pair{"current", "before"}, {"projected", "after"}}) {
      if (document[when].is_null()) continue;
      rows.push_back({{"name", name}});
      rows.back().update(document[when]);
    }
    text +=
        fmt::format("{} gives {}{}.\n\n{}\n", subject,
                    prediction.is_known ? DifferenceText(prediction.current, prediction.projected)
                                        : "filters of a policy that this program does not have",
                    families.size() == 1 ? "" : ", in column family " + prediction.family,
                    TableText({{"", "/name", PlainText},
                               {"wasted reads", "/wasted_reads_absent", ReadsText},
                               {"filter bytes", "/filter_bytes", CountText},
                               {"bits/key", "/bits_per_key", BitsPerKeyText}},
                              rows));
  }
  const auto num_files = std::count_if(plan.rewrites.begin(), plan.rewrites.end(), HasNewParts);
  if (num_files == 0) return text;
  return text + fmt::format("Prefixes or range filters change in {}.\n",
                            term::CountOf(static_cast<uint64_t>(num_files), "file"));
}

void ShowRewriting(const BackfillProgress& done, term::Progress* line) {
  line->Show(
      fmt::format("rewriting, {} of {} files", done.files_done, done.files_done + done.files_left),
      {done.bytes_done, done.bytes_done + done.bytes_left, done.bytes_done, "byte"});
}

void AddRewriteOptions(CLI::App* command, RewriteSettings* settings) {
  AddDatabaseOption(command, &settings->request.database, "the directory of the database");
  AddFamilyOption(command, &settings->request.family);
  AddOption(command, &settings->request.files.level,
            {"--level", "N", "only files of this level", WholeInRange(0, kMaxLevel)});
  AddRateOption(command, &settings->bytes_per_second, "write");
  AddFlag(command, &settings->is_dry_run, "--dry-run",
          "list the files in the order of rewriting, and rewrite none");
  AddFormatOption(command, &settings->format);
}

void RewriteFiles(const RewriteSettings& settings, const std::string& subject,
                  const MakeRewritePlan& make_plan) {
  const bool is_text = settings.format == OutputFormat::kText;
  if (settings.is_dry_run) {
    const RewritePlan plan = make_plan();
    return term::WriteToStandardOutput(is_text ? ToText(plan, subject)
                                               : JsonOf(settings, ToJson(plan)));
  }
  const std::string& database = settings.request.database;
  term::CatchInterrupts();
  ReadStoredOptions(database, /*strict=*/true);  // whose failure says more than a plan's
  Rewritten done;
  // RocksDB may compact as soon as the database is open.
  MeasureBefore(database, make_plan(), &done.families);
  // Opening flushes the WAL to files, which the plan must include.
  std::optional<FileRewriter> rewriter(std::in_place, database, settings.bytes_per_second);
  WaitForCompactions(&*rewriter, done);
  RewritePlan plan = make_plan();
  MeasureBefore(database, plan, &done.families);
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
    UpdatePredictions(plan, &done.families);
    plan = make_plan();
  }
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  rewriter.reset();
  term::Progress line;
  for (RewrittenFamily& family : done.families) {
    line.Show("measuring reads after");
    family.after = MeasureReads(database, family.prediction.family);
    family.bytes_after = FilterBytesOf(database, family.prediction.family);
  }
  line.Show("");
  term::WriteToStandardOutput(is_text ? ToText(done) : JsonOf(settings, ToJson(done)));
}

}  // namespace blocksieve::cli
