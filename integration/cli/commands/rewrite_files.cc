#include "integration/cli/commands/rewrite_files.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "integration/cli/files/file_report.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/interrupt.h"
#include "integration/cli/term/progress.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"
#include "integration/cli/term/text_table.h"
#include "integration/cli/upkeep/file_rewriter.h"
#include "integration/cli/upkeep/measured_reads.h"

namespace blocksieve::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxBytesPerSecond = uint64_t{1} << 40;
constexpr int kMaxLevel = 100;

/// Of a column family, before and after.
struct Measured {
  MeasuredReads before;
  MeasuredReads after;
  uint64_t bytes_after = 0;
};

uint64_t SumOfBytes(const RewritePlan& plan) {
  uint64_t sum = 0;
  for (const FileToRewrite& file : plan.rewrites) sum += file.num_bytes;
  return sum;
}

std::string ListText(const RewritePlan& plan) {
  term::TextTable table({"file", "level", "bytes", "saves reads", "saves filter bytes"});
  for (const FileToRewrite& file : plan.rewrites) {
    table.AddRow({ShortName(file.place), LevelText(file.place.level),
                  term::WithCommas(file.num_bytes), fmt::format("{:.3g}", file.saved_reads),
                  fmt::format("{}{}", file.saved_bytes < 0 ? "-" : "",
                              term::WithCommas(static_cast<uint64_t>(
                                  file.saved_bytes < 0 ? -file.saved_bytes : file.saved_bytes)))});
  }
  return table.ToString();
}

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

// Families that the plan does not change are not measured.
std::vector<FamilyOutlook> ChangedFamilies(const RewritePlan& plan) {
  std::set<std::string> names;
  for (const FileToRewrite& file : plan.rewrites) names.insert(file.place.family);
  std::vector<FamilyOutlook> changed;
  for (const FamilyOutlook& outlook : plan.outlooks) {
    if (names.contains(outlook.family)) changed.push_back(outlook);
  }
  return changed;
}

/// What a command did, in all rounds.
struct Done {
  uint64_t num_files = 0;
  uint64_t num_bytes = 0;
};

term::Interrupted Interruption(const Done& done, const std::string& left) {
  return term::Interrupted(fmt::format("interrupted; {} rewritten{}; repeat it to go on",
                                       term::CountOf(done.num_files, "file"), left));
}

void WaitForCompactions(FileRewriter* rewriter, const Done& done) {
  term::Progress line;
  const bool is_quiet = rewriter->WaitForCompactions([&](uint64_t bytes) {
    line.Show(fmt::format("waiting for RocksDB, which compacts: about {:.1f} MB left",
                          static_cast<double>(bytes) / 1e6));
    return !term::InterruptFlag();
  });
  line.Show("");
  if (!is_quiet) throw Interruption(done, "");
}

void DoRewrite(const RewritePlan& plan, FileRewriter* rewriter, Done* done) {
  const auto begin = std::chrono::steady_clock::now();
  term::Progress line;
  RewriteProgress last;
  const bool is_done = rewriter->Rewrite(plan, [&](const RewriteProgress& progress) {
    last = progress;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    const uint64_t all = progress.bytes_done + progress.bytes_left;
    line.Show(fmt::format("rewriting: {} of {} files, {} %, {}", progress.files_done,
                          progress.files_done + progress.files_left,
                          all == 0 ? 100 : 100 * progress.bytes_done / all,
                          PaceText(progress.bytes_done, progress.bytes_left, passed.count())));
    return !term::InterruptFlag();
  });
  line.Show("");
  done->num_files += last.files_done;
  done->num_bytes += last.bytes_done;
  if (!is_done) throw Interruption(*done, fmt::format(", {} left", last.files_left));
}

// The outlook of a later round, of families that are reported.
void Update(const RewritePlan& plan, std::vector<FamilyOutlook>* families) {
  for (FamilyOutlook& family : *families) {
    for (const FamilyOutlook& outlook : plan.outlooks) {
      if (outlook.family == family.family) family.reads = outlook.reads;
    }
  }
}

std::string ReadsText(const MeasuredReads& reads) {
  return reads.num_lookups == 0 ? "-" : fmt::format("{:.3g}", reads.PerLookup());
}

void ReportText(const Done& done, const std::vector<FamilyOutlook>& families,
                const std::vector<Measured>& measured, double seconds, bool promises) {
  std::string text =
      fmt::format("rewritten: {}, {} bytes in {:.1f} s\n\n", term::CountOf(done.num_files, "file"),
                  term::WithCommas(done.num_bytes), seconds);
  term::TextTable table({"", "wasted reads\npredicted", "\nmeasured", "filter bytes"});
  for (size_t i = 0; i < families.size(); ++i) {
    const FamilyOutlook& outlook = families[i];
    const std::string name = families.size() == 1 ? "" : outlook.family + " ";
    table.AddRow({name + "before", fmt::format("{:.3g}", outlook.reads_today),
                  ReadsText(measured[i].before), term::WithCommas(outlook.bytes_today)});
    table.AddRow({name + "after", promises ? fmt::format("{:.3g}", outlook.reads) : "-",
                  ReadsText(measured[i].after), term::WithCommas(measured[i].bytes_after)});
  }
  term::WriteToStandardOutput(text + table.ToString());
}

void ReportJson(const Done& done, const std::vector<FamilyOutlook>& families,
                const std::vector<Measured>& measured, bool promises) {
  Json document = {{"files_rewritten", done.num_files}, {"bytes_rewritten", done.num_bytes}};
  Json& list = document["families"] = Json::array();
  const auto reads = [](const MeasuredReads& one) {
    return one.num_lookups == 0 ? Json(nullptr) : Json(one.PerLookup());
  };
  for (size_t i = 0; i < families.size(); ++i) {
    const FamilyOutlook& outlook = families[i];
    list.push_back({{"family", outlook.family},
                    {"before",
                     {{"wasted_reads_predicted", outlook.reads_today},
                      {"wasted_reads_measured", reads(measured[i].before)},
                      {"filter_bytes", outlook.bytes_today}}},
                    {"after",
                     {{"wasted_reads_predicted", promises ? Json(outlook.reads) : Json(nullptr)},
                      {"wasted_reads_measured", reads(measured[i].after)},
                      {"filter_bytes", measured[i].bytes_after}}}});
  }
  term::WriteToStandardOutput(JsonLine(document));
}

void ReportDryRun(const RewriteSettings& settings, const RewritePlan& plan) {
  if (settings.format == OutputFormat::kText) {
    return term::WriteToStandardOutput(fmt::format(
        "{}\n{} with {} bytes would be rewritten\n", ListText(plan),
        term::CountOf(plan.rewrites.size(), "file"), term::WithCommas(SumOfBytes(plan))));
  }
  Json document = {{"bytes", SumOfBytes(plan)}};
  Json& files = document["files"] = Json::array();
  for (const FileToRewrite& file : plan.rewrites) {
    files.push_back({{"path", file.place.path},
                     {"level", file.place.level},
                     {"num_bytes", file.num_bytes},
                     {"saved_reads", file.saved_reads},
                     {"saved_filter_bytes", file.saved_bytes}});
  }
  term::WriteToStandardOutput(JsonLine(document));
}

}  // namespace

std::string PaceText(uint64_t bytes_done, uint64_t bytes_left, double seconds) {
  if (seconds <= 0 || bytes_done == 0) return "";
  const double rate = static_cast<double>(bytes_done) / seconds;
  const auto left = static_cast<uint64_t>(static_cast<double>(bytes_left) / rate + 1);
  const std::string time = left < 120    ? fmt::format("{} s", left)
                           : left < 7200 ? fmt::format("{} min", left / 60)
                                         : fmt::format("{} h", left / 3600);
  return fmt::format("{:.1f} MB/s, {} left", rate / 1e6, time);
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

void RewriteFiles(const RewriteSettings& settings, const MakeRewritePlan& make_plan,
                  bool promises) {
  if (settings.is_dry_run) return ReportDryRun(settings, make_plan());
  const std::string& database = settings.question.database;
  term::CatchInterrupts();
  // What is in the log becomes files now, before the plan is made.
  std::optional<FileRewriter> rewriter(std::in_place, database, settings.bytes_per_second);
  Done done;
  WaitForCompactions(&*rewriter, done);
  RewritePlan plan = make_plan();
  const bool is_text = settings.format == OutputFormat::kText;
  if (plan.rewrites.empty() && is_text) {
    return term::WriteToStandardOutput("No file would gain: nothing was rewritten.\n");
  }
  CheckIndexes(plan);
  term::Progress line;
  std::vector<FamilyOutlook> families = ChangedFamilies(plan);
  std::vector<Measured> measured;
  for (const FamilyOutlook& outlook : families) {
    line.Show("measuring reads before");
    measured.push_back({.before = MeasureReads(database, outlook.family), .after = {}});
  }
  const auto begin = std::chrono::steady_clock::now();
  // What RocksDB compacted meanwhile changed the tree: the plan is made again, until it is empty.
  // It is the first time already where nothing else happened; the limit is for a tree at no rest.
  constexpr int kMostRounds = 5;
  for (int round = 1; round <= kMostRounds && !plan.rewrites.empty(); ++round) {
    DoRewrite(plan, &*rewriter, &done);
    WaitForCompactions(&*rewriter, done);
    Update(plan, &families);
    plan = make_plan();
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  rewriter.reset();
  for (size_t i = 0; i < families.size(); ++i) {
    line.Show("measuring reads after");
    measured[i].after = MeasureReads(database, families[i].family);
    measured[i].bytes_after = FilterBytesOf(database, families[i].family);
  }
  line.Show("");
  if (is_text) {
    ReportText(done, families, measured, passed.count(), promises);
  } else {
    ReportJson(done, families, measured, promises);
  }
}

}  // namespace blocksieve::cli
