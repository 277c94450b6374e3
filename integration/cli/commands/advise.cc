#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "integration/cli/advise/advice.h"
#include "integration/cli/advise/advice_report.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/database/database.h"
#include "integration/cli/database/file_choice.h"
#include "integration/cli/database/file_text.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/progress.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kAdviseFooter =
    R"help(Compares the filters of a database, sorted run by sorted run, with those that blocksieve would build.
The first line says what to do; the last lines, how. Each file of level 0 is a sorted run; so is each
deeper level. The proposals:
  same memory    today's memory, spread over the levels so that the fewest reads are wasted
  same reads     as few wasted reads as today, with the least memory
  asked          what --memory or --wasted-reads asks for
  usual          10 bits per key, if there are no filters and nothing is asked for
  one rate       the same rate for all files, with today's memory, or with that of the first proposal
                 if there are no filters
Only what is asked for may waste more reads or more memory than the filters of today: other
proposals that would are left out. Files that are as a proposal has them count as they are.
Nothing is written, and another process may have the database open. Only single data blocks are
read, to see how far into a file the key range of another one reaches; with --seek-fraction, up to
three files of each sorted run as a whole.

The predictions follow the model of each kind of filter:
  wasted reads   data blocks read in vain by a lookup of an absent key: the sum over all runs of their
                 false-positive rates (1 for a run without a filter), each times the share of the
                 lookups that ask the run. Reads that the block cache answers count, too.
  lookups        that share. Lookups are assumed to be where the database has keys, and a run is asked
                 for keys from the first to the last key of each of its files. The listener tells
                 RocksDB's policy the same, of at least 1 in 32 lookups; without it
                 memory is spread as if every lookup asked every run.
  per lookup     with --absent-fraction F, the mean over all lookups: F times the above, and 1 - F
                 times what a lookup of a present key wastes: the sum over the runs newer than the
                 one that has the key, averaged over all keys.
  option         what the policy is told. Footers and lines that are not full come on top of
                 bits_per_key
  CPU, probe     measured now, on this machine: CPU time to build filters, by level as planned, and
                 to ask one that the processor's cache holds
  resident       filters take this in the block cache, or on the heap while files are open
  to rewrite     files whose filters would change, all of their bytes, and the keys in them. New
                 options rewrite nothing by themselves: each file changes when a compaction rewrites
                 it. A full compaction changes all files at once.

"No filter pays here" means that a lookup without any filter wastes less than one read in 1,000, or
that the files fit into the block cache: once the cache holds them, nothing is read. OPTIONS files of
RocksDB do not say how large the cache is; unless --block-cache does, it is taken for the default one
(8 MiB). "Ranges do not pay here" means the same of seeks, or that keys are too much alike.

With --seek-fraction F, F of the reads being seeks with an upper bound and the others lookups, it
shows what filters that answer for ranges would save. It builds some, in memory, from the keys of a
sample: for keys whose neighbours are too much alike they would let most ranges pass, which shows
only then. Files with an estimate above 0.2 get no range filters.
  seeks          share of the seeks that ask the run; one that finds nothing reads a data block of each
                 such run, unless its filters say that it has no key in the range
  estimated      share of short ranges without keys that would pass, for a range_fpr of 0.011
  can gain       with --range-width W, ranges hold W keys on average; exp(-W) of them hold none, if keys
                 lie in them by chance. For the others nothing is promised, though runs that have none of
                 their keys are not read, either.
The options give filters of all files the same rates. In those of the policy, wasted_reads and
bits_per_key are of filters for points and ranges together, with seek_fraction.
RocksDB asks range filters if ReadOptions have iterate_upper_bound and auto_prefix_mode. It refuses
them where another prefix extractor is set.

Options that spread memory over the levels work best with the listener that reports how large the
levels are: options.listeners.push_back(blocksieve::NewListener()), or listeners={blocksieve}.

Examples:
  blocksieve advise --db paths.db
  blocksieve advise --db paths.db --memory 64MiB
  blocksieve advise --db paths.db --wasted-reads 0.01 --absent-fraction 0.3
  blocksieve advise --db paths.db --seek-fraction 0.2 --range-width 0.1
  blocksieve advise --db paths.db --format json | jq -r '.families[0].proposals[0].option')help";

constexpr uint64_t kMaxMemory = uint64_t{1} << 50;

// In short ranges, as of the seeks that gain most.
constexpr double kDefaultRangeWidth = 0.01;
constexpr double kMaxRangeWidth = 1e6;

struct AdviseOptions {
  FileChoice choice;
  AdviceRequest request;
  std::optional<double> seek_fraction;
  double range_width = kDefaultRangeWidth;
  std::optional<uint64_t> cache_bytes;
  std::string options_file;  // empty: not asked for
  OutputFormat format = OutputFormat::kText;
};

// The share of a column family in the memory: all families get the same number of bits per key.
AdviceRequest ShareOf(const AdviceRequest& request, uint64_t num_keys, uint64_t all_keys) {
  AdviceRequest share = request;
  share.memory_of_all_families = request.memory;
  if (request.memory && all_keys != 0) {
    share.memory =
        static_cast<uint64_t>(static_cast<double>(*request.memory) * static_cast<double>(num_keys) /
                              static_cast<double>(all_keys));
  }
  return share;
}

KeysOfFile KeysWithProgress() {
  return [progress = std::make_shared<term::Progress>()](
             const FileReport& report, const std::function<void(std::string_view)>& visit) {
    progress->Show("building range filters: " + ShortName(report.place));
    const std::unique_ptr<TableFile> file = TableFile::Open(report.place);
    if (file == nullptr) return;  // removed by another process
    file->ForEachKey([&visit](std::string_view key, bool) { visit(key); });
  };
}

std::vector<Advice> AdviseAll(const AdviceRequest& request, const std::vector<FileReport>& files) {
  std::vector<RunList> lists = SortIntoRuns(files);
  uint64_t all_keys = 0;
  for (const RunList& list : lists) all_keys += list.num_keys();
  std::vector<Advice> all;
  for (RunList& list : lists) {
    const AdviceRequest share = ShareOf(request, list.num_keys(), all_keys);
    SetCoverage(ShareBeforeInFiles(), &list);
    Advice& advice = all.emplace_back(Advise(std::move(list), share));
    if (!request.seeks || advice.list.num_keys() == 0) continue;
    advice.ranges =
        AdviseRanges(advice.list, *request.seeks, advice.current.wasted_reads,
                     WhyCacheIsEnough(advice.list.runs, request.cached_bytes), KeysWithProgress());
  }
  return all;
}

std::string ToText(const AdviseOptions& options, const std::vector<Advice>& all,
                   const ChosenFiles::Missed& missed) {
  if (all.empty() && missed.unopened.empty()) {
    return "No filter pays here: there are no files; nothing has been flushed yet.\n";
  }
  std::string text;
  const bool is_only = all.size() == 1;
  for (const Advice& advice : all) {
    if (!is_only) text += fmt::format("Column family {}: ", advice.list.family);
    text += VerdictOf(advice).text + "\n";
  }
  text += "\n";
  for (const Advice& advice : all) {
    const std::string keys = term::CountOf(advice.list.num_keys(), "key");
    const std::string runs = term::CountOf(advice.list.runs.size(), "sorted run");
    if (!is_only) text += fmt::format("Column family {}: ", advice.list.family);
    text += fmt::format("{} in {}\n\n", keys, runs);
    text += ToText(advice, options.request.absent_fraction) + "\n";
    const Verdict verdict = VerdictOf(advice);
    if (!verdict.proposal) continue;
    const Proposal& proposal = advice.proposals[*verdict.proposal];
    text += fmt::format("How to change to {}:\n\n", proposal.name);
    const bool names_family = !is_only || options.choice.family || advice.list.family != "default";
    text += StepsText(proposal.plan.setting, options.choice.db,
                      names_family ? advice.list.family : "") +
            "\n";
  }
  return text + VanishedText(missed);
}

// What the verdicts say is to be changed to, in a complete file of options.
void WriteOptionsFile(const AdviseOptions& options, const std::vector<Advice>& all) {
  OptionsFile options_file = OptionsFile::Latest(options.choice.db);
  bool has_changes = false;
  for (const Advice& advice : all) {
    const Verdict verdict = VerdictOf(advice);
    if (!verdict.proposal) continue;
    const FilterSetting& setting = advice.proposals[*verdict.proposal].plan.setting;
    PutOption(PolicyOption(setting), {advice.list.family}, &options_file);
    has_changes = true;
  }
  if (!has_changes) {
    term::Fail(
        "--options-file {}: there is nothing to change; --memory and --wasted-reads ask for "
        "something",
        options.options_file);
  }
  const std::string text = options_file.text();
  std::ofstream file(options.options_file, std::ios::binary | std::ios::trunc);
  if (!file.is_open() || !file.write(text.data(), static_cast<std::streamsize>(text.size())) ||
      !file.flush()) {
    term::Fail("cannot write {}: {}", options.options_file, std::generic_category().message(errno));
  }
}

std::string ToJson(const AdviseOptions& options, const std::vector<Advice>& all,
                   const ChosenFiles::Missed& missed) {
  using Json = nlohmann::ordered_json;
  Json document = DescribeChoice(options.choice);
  document["absent_fraction"] = options.request.absent_fraction;
  Json& families = document["families"] = Json::array();
  for (const Advice& advice : all) families.push_back(ToJson(advice));
  AddMissed(missed, &document);
  return JsonLine(document);
}

void RunAdvise(const AdviseOptions& options) {
  ChosenFiles chosen = FindFiles(options.choice);
  ChosenFiles::Missed missed;
  const std::vector<FileReport> files = chosen.ReadReports("looking at filters", &missed);
  AdviceRequest request = options.request;
  request.cached_bytes = options.cache_bytes ? *options.cache_bytes : CacheBytes(options.choice.db);
  if (options.seek_fraction) {
    request.seeks =
        SeekWorkload{.fraction = *options.seek_fraction, .range_width = options.range_width};
  }
  const std::vector<Advice> all = AdviseAll(request, files);
  term::WriteToStandardOutput(options.format == OutputFormat::kJson ? ToJson(options, all, missed)
                                                                    : ToText(options, all, missed));
  if (!missed.unopened.empty()) term::Fail("{}", fmt::join(missed.unopened, "\n"));
  if (!options.options_file.empty()) WriteOptionsFile(options, all);
}

}  // namespace

void AddAdviseCommand(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddSubcommand(app, action, "advise",
                    "Show what other filters would cost a database, and what they would save",
                    kAdviseFooter, RunAdvise);
  AddDatabaseOption(command, &options->choice.db, "the directory of the database");
  AddOption(command, &options->choice.family,
            {"--column-family", "NAME", "only this column family (default all)"});
  CLI::Option* const memory = AddOption(
      command, &options->request.memory,
      {"--memory", "BYTES",
       "the most bytes for all filters together; also as 10MB or 64MiB; not with --wasted-reads",
       BytesInRange(1, kMaxMemory)});
  CLI::Option* const wasted_reads = AddOption(
      command, &options->request.wasted_reads,
      {"--wasted-reads", "X",
       fmt::format("the most wasted reads per lookup of an absent key, {} to {}; not with --memory",
                   kMinWastedReads, kMaxWastedReads),
       InRange(kMinWastedReads, kMaxWastedReads)});
  Exclude(wasted_reads, memory);
  AddOption(command, &options->request.absent_fraction,
            {"--absent-fraction", "F",
             "the share of lookups that are for absent keys, 0 to 1 (default 1)", InRange(0, 1)});
  CLI::Option* const seek_fraction = AddOption(
      command, &options->seek_fraction,
      {"--seek-fraction", "F",
       "the share of reads that are seeks with an upper bound, 0 to 1; shows range filters",
       InRange(0, 1)});
  CLI::Option* const range_width = AddOption(
      command, &options->range_width,
      {"--range-width", "W",
       fmt::format("keys in the range of such a seek, on average, 0 to {:.0f} (default {})",
                   kMaxRangeWidth, kDefaultRangeWidth),
       InRange(0, kMaxRangeWidth)});
  Need(range_width, seek_fraction);
  AddOption(command, &options->cache_bytes,
            {"--block-cache", "BYTES",
             "the size of the block cache, also as 64MiB; 0: none (default the database's)",
             BytesInRange(0, kMaxMemory)});
  AddOption(command, &options->options_file,
            {"--options-file", "FILE",
             "write the database's options, with what the first line says, into this file"});
  AddFormatOption(command, &options->format);
}

}  // namespace blocksieve::cli
