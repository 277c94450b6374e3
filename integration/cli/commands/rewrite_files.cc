#include "integration/cli/commands/rewrite_files.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

#include "integration/cli/commands/rewrite_report.h"
#include "integration/cli/maintenance/file_rewriter.h"
#include "integration/cli/maintenance/measured_reads.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/interrupt.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

constexpr uint64_t kMaxBytesPerSecond = uint64_t{1} << 40;
constexpr int kMaxLevel = 100;

// The index of such a family cannot be kept.
void CheckIndexes(const RewritePlan& plan) {
  for (const FileReport& file : plan.files) {
    if (file.index.num_granules == 0 || file.place.family == "default") continue;
    term::Fail(
        "column family {} has skip indexes, which only its own program can keep; name "
        "another one with --column-family",
        file.place.family);
  }
}

term::Interrupted Interruption(const Rewritten& done, const std::string& left) {
  return term::Interrupted(fmt::format("interrupted; {} rewritten{}; repeat it to go on",
                                       term::CountOf(done.num_files, "file"), left));
}

void WaitForCompactions(FileRewriter* rewriter, const Rewritten& done) {
  term::Progress line;
  const bool is_quiet = rewriter->WaitForCompactions([&](uint64_t bytes) {
    line.Show(fmt::format("waiting for RocksDB, which compacts: about {:.1f} MB left",
                          static_cast<double>(bytes) / 1e6));
    return !term::InterruptFlag();
  });
  line.Show("");
  if (!is_quiet) throw Interruption(done, "");
}

void DoRewrite(const RewritePlan& plan, FileRewriter* rewriter, Rewritten* done) {
  term::Progress line;
  RewriteProgress last;
  const bool is_done = rewriter->Rewrite(plan, [&](const RewriteProgress& progress) {
    last = progress;
    ShowRewriting(progress.files_done, progress.files_left, progress.bytes_done,
                  progress.bytes_left, &line);
    return !term::InterruptFlag();
  });
  line.Show("");
  done->num_files += last.files_done;
  done->num_bytes += last.bytes_done;
  if (!is_done) throw Interruption(*done, fmt::format(", {} left", last.files_left));
}

// To that of a later round.
void UpdateOutlooks(const RewritePlan& plan, std::vector<RewrittenFamily>* families) {
  for (RewrittenFamily& family : *families) {
    for (const FamilyOutlook& outlook : plan.outlooks) {
      if (outlook.family == family.outlook.family) family.outlook.then = outlook.then;
    }
  }
}

}  // namespace

void ShowRewriting(uint64_t files_done, uint64_t files_left, uint64_t bytes_done,
                   uint64_t bytes_left, term::Progress* line) {
  line->Show(fmt::format("rewriting, {} of {} files", files_done, files_done + files_left),
             {bytes_done, bytes_done + bytes_left, bytes_done, "byte"});
}

void AddRewriteOptions(CLI::App* command, RewriteSettings* settings) {
  AddDatabaseOption(command, &settings->question.database, "the directory of the database");
  AddOption(command, &settings->question.family,
            {"--column-family", "NAME", "only this column family; default: all"});
  AddOption(command, &settings->question.level,
            {"--level", "N", "only files of this level", WholeInRange(0, kMaxLevel)});
  AddOption(command, &settings->bytes_per_second,
            {"--bytes-per-second", "SIZE", "the most to write in a second (default: no limit)",
             BytesInRange(1, kMaxBytesPerSecond)});
  AddFlag(command, &settings->is_dry_run, "--dry-run",
          "list the files in their order, and rewrite none");
  AddFormatOption(command, &settings->format);
}

void RewriteFiles(const RewriteSettings& settings, const std::string& deed,
                  const MakeRewritePlan& make_plan) {
  const bool is_text = settings.format == OutputFormat::kText;
  if (settings.is_dry_run) {
    const RewritePlan plan = make_plan();
    return term::WriteToStandardOutput(is_text ? ToText(plan, deed) : JsonLine(ToJson(plan)));
  }
  const std::string& database = settings.question.database;
  term::CatchInterrupts();
  // What is in the log becomes files now, before the plan is made.
  std::optional<FileRewriter> rewriter(std::in_place, database, settings.bytes_per_second);
  Rewritten done;
  WaitForCompactions(&*rewriter, done);
  RewritePlan plan = make_plan();
  if (plan.rewrites.empty() && is_text) {
    return term::WriteToStandardOutput("No file would gain: nothing was rewritten.\n");
  }
  CheckIndexes(plan);
  term::Progress line;
  for (FamilyOutlook& outlook : ChangedFamilies(plan)) {
    line.Show("measuring reads before");
    const MeasuredReads before = MeasureReads(database, outlook.family);
    done.families.push_back({.outlook = std::move(outlook), .before = before});
  }
  const auto begin = std::chrono::steady_clock::now();
  // What RocksDB compacted meanwhile changed the tree: the plan is made again, until it is empty.
  // It is the first time already where nothing else happened; the limit is for a tree at no rest.
  constexpr int kMostRounds = 5;
  for (int round = 1; round <= kMostRounds && !plan.rewrites.empty(); ++round) {
    DoRewrite(plan, &*rewriter, &done);
    WaitForCompactions(&*rewriter, done);
    UpdateOutlooks(plan, &done.families);
    plan = make_plan();
  }
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  rewriter.reset();
  for (RewrittenFamily& family : done.families) {
    line.Show("measuring reads after");
    family.after = MeasureReads(database, family.outlook.family);
    family.bytes_after = FilterBytesOf(database, family.outlook.family);
  }
  line.Show("");
  term::WriteToStandardOutput(is_text ? ToText(done) : JsonLine(ToJson(done)));
}

}  // namespace blocksieve::cli
