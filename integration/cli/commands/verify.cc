#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "integration/cli/commands/options.h"
#include "integration/cli/database/file_check.h"
#include "integration/cli/database/file_choice.h"
#include "integration/cli/database/file_text.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"
#include "integration/cli/term/text_table.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kVerifyFooter =
    R"help(Reads every file and checks:
  - the checksums of data blocks, filters and skip indexes
  - that the filters pass every key of the file, range filters every range around a key, and filters
    with prefixes the range below every prefix
  - the false-positive rate (FPR), measured with absent keys close to existing ones; for range
    filters, with short empty ranges built from the start of one key and the end of another; for
    prefixes, with absent ones close to existing ones. Range filters may rule these out, too.

The database is opened read-only; another process may have it open. The memtable is not checked.

  keys checked     entries of the file: all versions of keys, including deletes
  false negatives  keys that did not pass; lookups would not find them
  measured FPR     share of the probes that passed, with its 95 % confidence interval
  predicted        the FPR by the model of the filter

A missing sidecar is reported, but is no problem: scans return the same rows without it.

Exit codes: 0 no problem; 1 a problem was found, or a file could not be read, or a filter matches
everything (written if building it would have exceeded max_build_bytes).

Examples:
  blocksieve verify --db paths.db
  blocksieve verify --db paths.db --probes 1000000
  blocksieve verify paths.db/000012.sst --format json)help";

constexpr uint64_t kDefaultProbes = 100'000;
constexpr uint64_t kMaxProbes = 1'000'000'000;

struct VerifyOptions {
  FileChoice choice;
  uint64_t num_probes = kDefaultProbes;
  OutputFormat format = OutputFormat::kText;
};

struct Verification {
  std::vector<FileCheck> files;
  ChosenFiles::Missed missed;

  uint64_t num_problems() const {
    uint64_t sum = missed.unopened.size();
    for (const FileCheck& check : files) sum += check.problems.size();
    return sum;
  }
};

std::string MeasuredText(const Probes& probes) {
  const std::optional<RateInterval> fpr = probes.interval();
  if (!fpr) return "-";
  return fmt::format("{:.3g} ({:.3g} to {:.3g})", term::Ratio(probes.num_passed, probes.num_probed),
                     fpr->low, fpr->high);
}

std::vector<std::string> Cells(const FileCheck& check, const QueryCheck& query) {
  return {ShortName(check.file.place),
          LevelText(check.file.place.level),
          term::WithCommas(query.num_checked),
          term::WithCommas(query.false_negatives),
          term::WithCommas(query.absent.num_probed),
          MeasuredText(query.absent)};
}

/// Empty if no file has the part.
std::string PartText(const Verification& verification, QueryCheck FileCheck::*query,
                     PartReport FilterReport::*part, std::vector<std::string> headers) {
  term::TextTable table(std::move(headers));
  bool has_part = false;
  for (const FileCheck& check : verification.files) {
    const PartReport& report = check.file.filter.*part;
    if (report.num_filters == 0) continue;
    has_part = true;
    std::vector<std::string> cells = Cells(check, check.*query);
    cells.push_back(RateText(report.fpr));
    table.AddRow(std::move(cells));
  }
  return has_part ? table.ToString() + "\n" : "";
}

std::string PartsText(const Verification& verification) {
  return PartText(verification, &FileCheck::ranges, &FilterReport::ranges,
                  {"file", "level", "ranges checked", "false negatives", "probes",
                   "measured range FPR", "estimated"}) +
         PartText(verification, &FileCheck::prefixes, &FilterReport::prefixes,
                  {"file", "level", "prefixes checked", "false negatives", "probes",
                   "measured prefix FPR", "predicted"});
}

std::string ToText(const Verification& verification) {
  if (verification.files.empty() && verification.missed.unopened.empty()) {
    return "No files: nothing has been flushed yet.\n";
  }
  term::TextTable table({"file", "level", "filter", "keys checked", "false negatives", "probes",
                         "measured FPR", "predicted"});
  std::string notes;
  std::string problems;
  uint64_t keys_checked = 0;
  for (const FileCheck& check : verification.files) {
    const FilePlace& place = check.file.place;
    std::vector<std::string> cells = Cells(check, check.keys);
    cells.insert(cells.begin() + 2, FilterName(check.file.filter));
    cells.push_back(RateText(check.file.filter.predicted_fpr));
    table.AddRow(std::move(cells));
    keys_checked += check.keys.num_checked;
    for (const std::string& note : {check.unchecked, check.file.index.note}) {
      if (!note.empty()) notes += ShortName(place) + ": " + note + "\n";
    }
    for (const std::string& problem : check.problems) {
      problems += "PROBLEM " + ShortName(place) + ": " + problem + "\n";
    }
  }
  notes += VanishedText(verification.missed);
  for (const std::string& problem : verification.missed.unopened)
    problems += "PROBLEM " + problem + "\n";
  return table.ToString() + "\n" + PartsText(verification) + notes + problems +
         fmt::format("{}, {}: {}\n", term::CountOf(verification.files.size(), "file"),
                     term::CountOf(keys_checked, "key"),
                     problems.empty() ? "no problem found"
                                      : term::CountOf(verification.num_problems(), "problem"));
}

nlohmann::ordered_json ToJson(const FileCheck& check) {
  using Json = nlohmann::ordered_json;
  const auto interval = [](const Probes& probes) {
    const std::optional<RateInterval> fpr = probes.interval();
    return fpr ? Json::array({fpr->low, fpr->high}) : Json(nullptr);
  };
  const QueryCheck& keys = check.keys;
  Json document = ToJson(check.file);
  document.update({{"keys_checked", keys.num_checked},
                   {"false_negatives", keys.false_negatives},
                   {"unchecked", check.unchecked},
                   {"num_probes", keys.absent.num_probed},
                   {"num_passed", keys.absent.num_passed},
                   {"fpr_interval", interval(keys.absent)}});
  const auto add = [&](const std::string& one, const std::string& all, const QueryCheck& query) {
    document[all + "_checked"] = query.num_checked;
    document["false_negative_" + all] = query.false_negatives;
    document["num_" + one + "_probes"] = query.absent.num_probed;
    document["num_" + all + "_passed"] = query.absent.num_passed;
    document[one + "_fpr_interval"] = interval(query.absent);
  };
  add("range", "ranges", check.ranges);
  add("prefix", "prefixes", check.prefixes);
  document["problems"] = check.problems;
  return document;
}

std::string ToJson(const VerifyOptions& options, const Verification& verification) {
  using Json = nlohmann::ordered_json;
  Json document = DescribeChoice(options.choice);
  document["num_problems"] = verification.num_problems();
  document["confidence"] = 0.95;
  Json& files = document["files"] = Json::array();
  for (const FileCheck& check : verification.files) files.push_back(ToJson(check));
  AddMissed(verification.missed, &document);
  return JsonLine(document);
}

void RunVerify(const VerifyOptions& options) {
  const ChosenFiles chosen = FindFiles(options.choice);
  Verification verification;
  verification.missed = chosen.ForEach("verifying", [&](TableFile* file) {
    verification.files.push_back(CheckFile(file, options.num_probes));
  });
  term::WriteToStandardOutput(options.format == OutputFormat::kJson ? ToJson(options, verification)
                                                                    : ToText(verification));
  if (const uint64_t problems = verification.num_problems(); problems != 0) {
    term::Fail("{} found", term::CountOf(problems, "problem"));
  }
}

}  // namespace

void AddVerifyCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "verify", "Check the filters and skip indexes of a database or a file",
      kVerifyFooter, RunVerify);
  AddFileOptions(command, &options->choice);
  AddOption(
      command, &options->num_probes,
      {"--probes", "N",
       fmt::format(
           "number of absent keys to probe the filters of each file with; 0: none (default {})",
           kDefaultProbes),
       WholeInRange(0, kMaxProbes)});
  AddFormatOption(command, &options->format);
}

}  // namespace blocksieve::cli
