#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/cli/advise/advice.h"
#include "integration/cli/advise/advice_json.h"
#include "integration/cli/advise/advice_text.h"
#include "integration/cli/commands/commands.h"
#include "integration/cli/commands/common_options.h"
#include "integration/cli/engine/engine_choice.h"
#include "integration/cli/files/file_choice.h"
#include "integration/cli/files/file_report_json.h"
#include "integration/cli/files/file_report_text.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kDescription =
    "Say what other filters would cost a database, and what they would save";

constexpr const char* kFooter =
    R"help(Looks at the sorted runs of a database (each file of level 0 is one, and each deeper level) and at
the filters that they have, and compares these with what blocksieve would build:
  same memory    the memory of today, spread over the levels so that the fewest reads are wasted
  same reads     no more wasted reads than today with the least memory
  asked          by --memory or --wasted-reads
  usual          where there are no filters and nothing is asked for: 10 bits per key
  one rate       the memory of today, or where there are no filters of the first of these, with the
                 same rate for all files
Nothing is written; another process may have the database open. Of the data, single blocks are
read, to see where in a file the range of another one ends.

Predictions, by the models of the filters' kinds:
  wasted reads   data blocks read in vain by a lookup of an absent key: the sum over all runs of their
                 false-positive rates, 1 for a run without filter, each times the share of lookups
                 that ask the run. What is in the block cache is counted, too.
  lookups        that share. Keys are looked for where the database has keys, and a run is asked for
                 those from the first to the last key of each of its files. The policy spreads memory
                 as if all lookups asked all runs: it then wastes less than it was told to.
  per lookup     with --absent-fraction F, of all lookups: F times the above, and 1 - F times what a
                 lookup of a present key wastes: the sum over the runs newer than the one that has
                 it, averaged over all keys.
  to rewrite     files whose filters would be others, with all of their bytes, and the keys in them.
                 New options rewrite nothing by themselves: files change by and by, as compactions
                 rewrite them; compacting everything does it at once.

"No filter pays here" is said where a lookup without any filter wastes less than one read in 1,000,
and where the files fit into the block cache that the engine has if nobody sets one (RocksDB 8 MiB,
toylsm 32 MiB): nothing is read there any more once it is full.

Options that spread memory over the levels work best with the listener that tells how large those
are: options.listeners.push_back(blocksieve::NewLevelListener()), or listeners={blocksieve}.

Examples:
  blocksieve advise --db paths.db
  blocksieve advise --db paths.db --memory 64MiB
  blocksieve advise --db paths.db --wasted-reads 0.01 --absent-fraction 0.3
  blocksieve advise --db paths.db --format json | jq -r '.families[0].proposals[0].option')help";

constexpr uint64_t kMaxMemory = uint64_t{1} << 50;

struct AdviseOptions {
  FileChoice choice;
  AdviceQuestion question;
  OutputFormat format = OutputFormat::kText;
};

// All column families get the same number of bits per key.
AdviceQuestion ShareOf(const AdviceQuestion& question, uint64_t num_keys, uint64_t all_keys) {
  AdviceQuestion share = question;
  share.memory_of_all_families = question.memory;
  if (question.memory && all_keys != 0) {
    share.memory =
        static_cast<uint64_t>(static_cast<double>(*question.memory) *
                              static_cast<double>(num_keys) / static_cast<double>(all_keys));
  }
  return share;
}

// Opens files again, each once where one after the other is asked for.
ShareBefore ShareBeforeIn(const Engine& engine) {
  return [&engine, path = std::string(), file = std::shared_ptr<TableFile>()](
             const FileReport& report, std::string_view key) mutable {
    constexpr double kUnknown = 0.5;
    try {
      if (path != report.place.path) {
        path = report.place.path;
        file = engine.OpenFile(report.place);
      }
      return file == nullptr ? kUnknown : file->ShareBefore(key);
    } catch (const term::Failure&) {
      return kUnknown;
    }
  };
}

std::vector<Advice> AdviseAll(const AdviceQuestion& question, const std::vector<FileReport>& files,
                              const Engine& engine) {
  std::vector<RunList> lists = SortIntoRuns(files);
  uint64_t all_keys = 0;
  for (const RunList& list : lists) all_keys += list.num_keys();
  std::vector<Advice> all;
  for (RunList& list : lists) {
    const AdviceQuestion share = ShareOf(question, list.num_keys(), all_keys);
    RunCoverage coverage = CoverageOf(list.runs, ShareBeforeIn(engine));
    all.push_back(Advise(std::move(list), std::move(coverage), share));
  }
  return all;
}

std::string ToText(const AdviseOptions& options, const Engine& engine,
                   const std::vector<Advice>& all, const ChosenFiles::Missed& missed) {
  if (all.empty() && missed.unopened.empty()) {
    return "No filter pays here: there are no files, nothing has been flushed yet.\n";
  }
  std::string text;
  for (const Advice& advice : all) {
    const std::string keys = term::CountOf(advice.list.num_keys(), "key");
    const std::string runs = term::CountOf(advice.list.runs.size(), "sorted run");
    if (all.size() > 1) text += fmt::format("Column family {}: ", advice.list.family);
    text += fmt::format("{} in {}\n\n", keys, runs);
    text += ToText(advice, options.question.absent_fraction, engine) + "\n";
  }
  return text + VanishedText(missed);
}

std::string ToJson(const AdviseOptions& options, const Engine& engine,
                   const std::vector<Advice>& all, const ChosenFiles::Missed& missed) {
  using Json = nlohmann::ordered_json;
  Json document = DescribeChoice(options.choice, engine);
  document["absent_fraction"] = options.question.absent_fraction;
  Json& families = document["families"] = Json::array();
  for (const Advice& advice : all) families.push_back(ToJson(advice, engine));
  AddMissed(missed, &document);
  return JsonLine(document);
}

void RunAdvise(const AdviseOptions& options) {
  ChosenFiles chosen = FindFiles(options.choice);
  ChosenFiles::Missed missed;
  const std::vector<FileReport> files = chosen.ReadReports("looking at filters", &missed);
  AdviceQuestion question = options.question;
  question.cached_bytes = chosen.engine->DefaultCacheBytes();
  const std::vector<Advice> all = AdviseAll(question, files, *chosen.engine);
  term::Output output;
  output.Write(options.format == OutputFormat::kJson
                   ? ToJson(options, *chosen.engine, all, missed)
                   : ToText(options, *chosen.engine, all, missed));
  output.Flush();
  if (!missed.unopened.empty()) term::Fail("{}", fmt::join(missed.unopened, "\n"));
}

}  // namespace

void AddAdviseCommand(CLI::App* app, Action* action) {
  const auto options = std::make_shared<AdviseOptions>();
  CLI::App* const command = app->add_subcommand("advise", kDescription);
  command->footer(kFooter);
  command->add_option("--db", options->choice.db, "the directory of the database")
      ->type_name("DIR")
      ->required();
  AddEngineOption(command, &options->choice.engine, "what it is of; found out if not given");
  command
      ->add_option("--column-family", options->choice.family,
                   "only this one; default: all, each alone")
      ->type_name("NAME");
  CLI::Option* const memory =
      command
          ->add_option("--memory", options->question.memory,
                       "the most bytes for all filters; also as 10MB or 64MiB")
          ->transform(BytesInRange(1, kMaxMemory))
          ->type_name("BYTES");
  command
      ->add_option("--wasted-reads", options->question.wasted_reads,
                   fmt::format("the most per lookup of an absent key, {} to {}", kMinWastedReads,
                               kMaxWastedReads))
      ->type_name("X")
      ->check(InRange(kMinWastedReads, kMaxWastedReads))
      ->excludes(memory);
  command
      ->add_option("--absent-fraction", options->question.absent_fraction,
                   "share of lookups that are of absent keys, 0 to 1 (default 1)")
      ->type_name("F")
      ->check(InRange(0.0, 1.0));
  AddFormatOption(command, &options->format);
  command->callback([options, action] { *action = [options] { RunAdvise(*options); }; });
}

}  // namespace blocksieve::cli
