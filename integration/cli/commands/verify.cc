// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/commands/options.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kVerifyFooter =
    R"help(Reads every file and checks the checksums of data blocks, filters and skip indexes; that the filters
pass every key of the file, range filters every range around a key, and filters with prefixes the
range below every prefix; that block indexes find every key; and the false-positive rate (FPR),
measured with absent keys, short empty ranges and absent prefixes close to existing ones. Range
filters may rule these prefixes out, too.

The database is opened read-only; another process may have it open. The memtable is not checked.

  keys checked     entries of the file: all versions of keys, including deletes
  false negatives  keys that did not pass; lookups would not find them
  measured FPR     share of the probes that passed, with its 95 % confidence interval
  predicted        the FPR by the model of the filter

Exit codes: 0 no problem; 1 a problem was found, or a file could not be read, or a filter matches
everything (written if building it would have exceeded max_build_bytes). Missing sidecars are none.

Examples:
  blocksieve verify --db paths.db
  blocksieve verify --db paths.db --probes 1000000
  blocksieve verify paths.db/000012.sst --format json)help";

constexpr uint64_t kDefaultProbes = 100'000;
constexpr uint64_t kMaxProbes = 1'000'000'000;

struct VerifyOptions : TargetOptions {
  uint64_t num_probes = kDefaultProbes;
};

std::string MeasuredText(const Json& query) {
  const Json& fpr = query["fpr_interval"];
  return fpr.is_null() ? "-"
                       : fmt::format("{} ({} to {})", ReadsText(query["measured_fpr"]),
                                     ReadsText(fpr[0]), ReadsText(fpr[1]));
}

// The columns about a kind of query: members of a file, or of its member `query`.
std::vector<TableColumn> Columns(const std::string& query, const std::string& things,
                                 const char* measured, const char* predicted, const char* fpr) {
  return {{"file", "/path", FileNameText},
          {"level", "/level", PlainText},
          {things + " checked", query + "/" + things + "_checked", CountText},
          {"false negatives", query + "/false_negatives", CountText},
          {"probes", query + "/num_probes", CountText},
          {measured, query, MeasuredText},
          {predicted, fpr, RateText}};
}

std::string ToText(const Json& document, const TargetFiles& read) {
  const Json& files = document["files"];
  if (files.empty() && read.unopened.empty()) {
    return "No files: nothing has been flushed yet.\n";
  }
  std::vector<TableColumn> columns =
      Columns("", "keys", "measured FPR", "predicted", "/filter/predicted_fpr");
  columns.insert(columns.begin() + 2, {"filter", "/filter", FilterName});
  const std::string notes =
      NotesText(files, {"/unchecked", "/filter/note", "/index/note"}) + VanishedText(read);
  std::string problems = NotesText(files, {"/problems"}, "PROBLEM ");
  uint64_t keys_checked = 0;
  for (const Json& file : files) keys_checked += file["keys_checked"].get<uint64_t>();
  for (const std::string& problem : read.unopened) problems += "PROBLEM " + problem + "\n";
  return TableText(std::move(columns), files) + "\n" +
         PartTable(
             files, "range",
             Columns("/ranges", "ranges", "measured range FPR", "estimated", "/filter/range_fpr")) +
         PartTable(files, "prefix",
                   Columns("/prefixes", "prefixes", "measured prefix FPR", "predicted",
                           "/filter/prefix_fpr")) +
         notes + problems +
         fmt::format("{}, {}: {}\n", term::CountOf(files.size(), "file"),
                     term::CountOf(keys_checked, "key"),
                     problems.empty() ? "no problem found"
                                      : term::CountOf(document["num_problems"], "problem"));
}

Json ToJson(const QueryCheck& query, const char* checked) {
  Json document = {{checked, query.num_checked},     {"false_negatives", query.false_negatives},
                   {"num_probes", query.num_probed}, {"num_passed", query.num_passed},
                   {"measured_fpr", nullptr},        {"fpr_interval", nullptr}};
  if (query.num_probed == 0) return document;
  document["measured_fpr"] = Ratio(query.num_passed, query.num_probed);
  document["fpr_interval"] = WilsonInterval(query.num_passed, query.num_probed);
  return document;
}

Json ToJson(const FileCheck& check) {
  Json document = cli::ToJson(check.file);
  document.update(ToJson(check.keys, "keys_checked"));
  document.update({{"ranges", ToJson(check.ranges, "ranges_checked")},
                   {"prefixes", ToJson(check.prefixes, "prefixes_checked")},
                   {"unchecked", check.unchecked},
                   {"problems", check.problems}});
  return document;
}

void RunVerify(const VerifyOptions& options) {
  term::CatchInterrupts();
  TargetFiles read = FindFiles(options.target);
  Json files = Json::array();
  uint64_t problems = 0;
  read.ForEach("verifying", [&](TableFile* file) {
    files.push_back(ToJson(CheckFile(file, options.num_probes)));
    problems += files.back()["problems"].size();
  });
  problems += read.unopened.size();
  Json document = DescribeTarget(options.target);
  document.update({{"num_problems", problems}, {"confidence", 0.95}, {"files", files}});
  AddMissed(read, &document);
  WriteReport(options.format, document, ToText(document, read));
  if (problems != 0) term::Fail("{} found", term::CountOf(problems, "problem"));
}

}  // namespace

void AddVerifyCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "verify", "Check the filters and skip indexes of a database or a file",
      kVerifyFooter, RunVerify);
  AddTargetOptions(command, options, Subject::kDatabaseOrFile);
  AddOption(
      command, &options->num_probes, "--probes N",
      fmt::format(
          "number of absent keys to probe the filters of each file with; 0: none (default {})",
          kDefaultProbes),
      WholeInRange(0, kMaxProbes));
}

}  // namespace blocksieve::cli
