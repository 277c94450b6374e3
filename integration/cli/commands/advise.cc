// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>

#include "blocksieve/filter.h"
#include "integration/cli/advise/advice.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/database/info_log.h"
#include "integration/cli/maintenance/options_change.h"
#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kAdviseFooter =
    R"help(Compares the current filters of a database with filters that blocksieve would build. The first line
recommends a change or none; the last lines list the steps. The database is only read, and another
process may have it open.

Filters are compared by sorted run: each file of level 0 is one run, each deeper level is one run.
All column families get the same options within one limit, unless --column-family selects one.
Lookups are assumed to be distributed over families and runs as the keys are.

Proposals; only "requested" may waste more reads or memory than the current filters:
  requested      the filters for --memory or --wasted-reads; then no others that exceed this limit
  same memory    fewest wasted reads within the current filter memory
  same reads     least memory with no more wasted reads than now
  usual          10 bits per key, if the database has no filters and nothing is requested
  one rate       the same FPR for all files, in the memory of the proposal or filters before it
Besides, RocksDB's own filters by level (kind=stock), in the same memory as one rate: for programs
that cannot all load the plug-in.

Predictions, by the model of each kind of filter:
  wasted reads   data blocks read by a lookup of an absent key: the sum over all runs of FPR (1 for
                 a run without filters) times lookup share. Block cache hits count as reads.
  per lookup     with --absent-fraction F, the mean over all lookups: those that find their key
                 waste the reads in newer runs than the run with the key
  lookups        lookup share: the share of all lookups that check this run, which is checked for
                 keys between the first and last key of one of its files

"No filter pays here" means that a lookup without filters would waste less than 0.001 reads, or that
all files fit into the block cache. OPTIONS files do not contain its size: see --block-cache. If no
keys could be counted, there is no verdict, and the exit code is 1.

Seeks (--seek-fraction F: a share F of all reads are seeks with an upper bound). advise reads up to
three files of each run and builds from them, in memory, what key filters can have besides keys:
  range filters  for seeks in short ranges; none where the estimate is above 0.2
  prefixes       for seeks below a prefix of keys such as account:user:event, at any depth. Tries
                 nine delimiters and the lengths 4, 8 and 16; other boundaries: --prefixes.
  seeks          share of the seeks that check the run. A seek that finds nothing reads one data
                 block of each such run, unless a filter rules out the range.
  estimated      share of short empty ranges that would pass, for range_fpr=0.011
  predicted      share of absent prefixes that would pass
  empty seeks    with --range-width W, exp(-W) of the ranges are empty, if keys are spread at random.
                 No savings are predicted for other seeks.
wasted_reads and bits_per_key can cover lookups and seeks together, with seek_fraction. Seeks need
the prefix extractor blocksieve.range, and iterate_upper_bound and auto_prefix_mode in ReadOptions.

Windows (--window F): which part of the key, if it is a column, lets NewIterator and scan read least
for a share F of its values, such as 0.01 of all times. Tries big-endian numbers of 4 and 8 bytes at
eleven places, by the keys of up to 64 files. Seeks already use numbers that the keys are ordered by.

Without the database (--log): the tree is that of the last dump of statistics in the info log, which
RocksDB writes every stats_dump_period_sec; pass LOG and older ones (LOG.old.*), each with --log.
Levels are estimated from the tables that the logs show written to them, lookup shares from filter
probes. Statistics also give the share of absent keys, the wasted reads and what seeks read; so does
--statistics FILE, also with --db: the text of Statistics::ToString, or JSON such as Kvrocks' STATS.
Other loggers may have prefixed their lines, but not escaped them; - is standard input.

Examples:
  blocksieve advise --db paths.db
  blocksieve advise --db paths.db --memory 64MiB
  blocksieve advise --db paths.db --wasted-reads 0.01 --absent-fraction 0.3
  blocksieve advise --db paths.db --seek-fraction 0.2 --range-width 0.1
  blocksieve advise --db paths.db --seek-fraction 0.2 --prefixes delimiter:/
  blocksieve advise --log LOG --log LOG.old
  blocksieve advise --db paths.db --format json | jq -r '.verdict.option')help";

constexpr uint64_t kMaxMemory = uint64_t{1} << 50;

constexpr double kMaxRangeWidth = 1e6;

struct AdviseOptions : TargetOptions {
  std::vector<std::string> logs;  // instead of a database
  std::string statistics;         // empty: none
  std::optional<double> absent_fraction;
  AdviceRequest request;
  std::optional<uint64_t> cache_bytes;
};

std::string PrefixBoundaries(const std::string& text) {
  constexpr std::string_view kOption = "prefixes is ";  // the message begins with it
  const Result<std::string> rule = CanonicalPrefixRule(text);
  return rule.ok() ? "" : rule.status().message().substr(kOption.size());
}

/// What is known of the database, from its info logs or, like them, from its files.
struct Source : InfoLog {
  std::optional<StoredDatabase> stored;
  TargetFiles read;
  std::optional<ObservedReads> observed;
};

std::string UnknownFamiliesText(const std::vector<std::string>& families) {
  return fmt::format(
      "the info logs show no table that was written to column family {}; add older ones, such as "
      "LOG.old",
      fmt::join(families, ", "));
}

Source ReadSource(const AdviseOptions& options) {
  Source source;
  if (!options.logs.empty()) {
    source = {ReadInfoLogs(options.logs), {}, {}, {}};
    if (source.database.empty()) source.database = "DIR";
    const auto is_other = [&](const std::string& family) { return !options.target.Has(family); };
    std::erase_if(source.files,
                  [&](const FileReport& file) { return is_other(file.place.family); });
    std::erase_if(source.unknown_families, is_other);
    if (source.files.empty()) {
      term::Fail("{}", source.unknown_families.empty()
                           ? "--column-family is " + *options.target.family +
                                 ", which has no files in the logs"
                           : UnknownFamiliesText(source.unknown_families));
    }
  } else {
    source.database = options.target.path;
    FailIfOfLevelDb(options.target);
    source.stored = ReadStored(options.target);
    if (source.stored->loaded.is_newer) FailIfNotRead(*source.stored);
    source.num_bytes = FileBytes(options.target);
    source.read = FindFiles(options.target);
    source.files = source.read.ReadReports("looking at filters");
    source.cache_bytes = CacheBytes(options.target);
  }
  if (!options.statistics.empty()) source.tickers = ReadStatistics(options.statistics);
  if (!source.tickers.empty()) source.observed = rocksdb_plugin::ObserveReads(source.tickers);
  return source;
}

Forest MakeForest(const Source& source) {
  Forest forest = BuildForest(source.files);
  // Counters are of all column families, and logs have no key ranges.
  if (!source.observed || forest.trees.size() != 1 || source.files.front().place.keys) {
    return forest;
  }
  const auto probes = ProbesPerLookup(*source.observed);
  const auto absent_fraction = AbsentFraction(*source.observed);
  if (probes && absent_fraction) forest.trees.front().SetProbes(*probes, *absent_fraction);
  return forest;
}

// Whether the OPTIONS file has columns, which Enable takes out unless it is told them.
bool HasColumns(const Source& source) {
  if (!source.stored || !source.stored->text) return false;
  return std::ranges::any_of(source.stored->TargetFamilies(), [&](const std::string& family) {
    const auto section = OptionsSection::Family(family);
    // A block index has a collector, too.
    return source.stored->Value(section, "table_properties_collectors")
               .value_or("")
               .find("blocksieve.") != std::string::npos;
  });
}

// Lets filters answer for ranges and prefixes as the block indexes of their files do.
void CountBlockIndexes(Source* source) {
  if (!source->stored) return;
  for (FileReport& file : source->files) {
    const auto* const options = source->stored->loaded.Find(file.place.family);
    if (options == nullptr || file.index.place != rocksdb_plugin::kBlockIndexPlace) continue;
    const auto index = rocksdb_plugin::FindBlockIndexOptions(*options);
    const FilterOptions defaults;
    if (index && index->ranges)
      file.filter.ranges = {.num_filters = 1, .fpr = index->range_fpr.value_or(defaults.range_fpr)};
    if (index && !index->prefixes.empty())
      file.filter.prefixes = {.num_filters = 1,
                              .fpr = index->prefix_fpr.value_or(defaults.prefix_fpr)};
  }
}

// The options of `blocksieve enable` that request these features: " --bits-per-key 9.98".
std::string EnableArguments(const EnableOptions& features) {
  std::string arguments;
  for (const auto& entry : rocksdb_plugin::EnableOptionTable().entries()) {
    const std::string value = entry.write(&features);
    if (value == entry.default_text) continue;
    std::string name = entry.name;
    std::ranges::replace(name, '_', '-');
    arguments += " --" + name + (value == "true" ? "" : " " + ShellWord(value));
  }
  return arguments;
}

// The command that sets a policy, and what it needs, in the OPTIONS file.
std::string CommandToSet(const EnableOptions& policy, const AdviseOptions& options,
                         const Source& source) {
  const auto& family = options.target.family;
  return fmt::format("blocksieve {} --db {}{}{}", HasColumns(source) ? "apply" : "enable",
                     ShellWord(source.database),
                     family ? " --column-family " + ShellWord(*family) : "",
                     HasColumns(source) ? " --option " + ShellWord(PolicyOption(policy))
                                        : EnableArguments(policy));
}

/// How to set a policy where no command of ours can; "" where one can. `has_options`: whether the
/// OPTIONS file has it.
std::string HowToSetByProgram(const EnableOptions& policy, const Source& source,
                              bool* has_options) {
  if (!source.stored) return "";
  const StoredDatabase& stored = *source.stored;
  std::string why = "the database has no OPTIONS file that this RocksDB reads";
  if (stored.text && stored.problem.empty()) try {
      EnableOptions tried = policy;
      // The option of the report, for apply, names the kind "auto".
      for (const auto kind :
           {policy.kind, std::optional(policy.kind.value_or(FilterKind::kAuto))}) {
        tried.kind = kind;
        std::string carriers;
        const OptionsText edited = HasColumns(source) ? OptionsWith(stored, {PolicyOption(tried)})
                                                      : EnabledOptions(stored, tried, &carriers);
        *has_options |= edited.edits().empty();
        CheckWritable(WithText(stored.target, edited), Access::kRead);
      }
      return "";
    } catch (const term::Failure& failure) {
      why = failure.what();
    }
  return fmt::format("{} in its program, as no command here can: {}", PolicyOption(policy), why);
}

// The steps to set a policy. `command`: sets it in the OPTIONS file; empty: which has it, and what
// it needs. `only`: the only column family.
std::string StepsText(const EnableOptions& policy, const std::string& command,
                      const std::string& database, const std::optional<std::string>& only) {
  const std::string db = ShellWord(database) + (only ? " --column-family " + ShellWord(*only) : "");
  int step = 0;
  std::string text;
  if (!command.empty()) {
    text += fmt::format(
        "{}. Set these options in the OPTIONS file of the database. This command does it, with "
        "what\n"
        "   they need, and keeps the old file:\n"
        "     {}\n",
        ++step, command);
  }
  const auto [goal, value] = GoalOption(policy);
  std::string fields = fmt::format(".{} = {}", goal, value);
  if (policy.range_fpr) {
    fields += fmt::format(", .ranges = true, .range_fpr = {}", *policy.range_fpr);
  }
  if (!policy.prefixes.empty()) fields += fmt::format(", .prefixes = \"{}\"", policy.prefixes);
  text += fmt::format(
      "{}. A program that loads the OPTIONS file (LoadLatestOptions) needs the plug-in, linked or\n"
      "   preloaded (LD_PRELOAD). Other programs set the options in code and link "
      "blocksieve::rocksdb:\n"
      "     blocksieve::Enable(&options, {{{}}});\n",
      ++step, fields);
  if (rocksdb_plugin::AnswersRanges(policy)) {
    text += "   Seeks need an upper bound: blocksieve::PrepareRangeRead(&bound, &read_options);\n";
  }
  if (!command.empty()) text += fmt::format("{}. Close the database and open it again.\n", ++step);
  text += fmt::format(
      "{}. A file gets its new filter when a compaction rewrites it. To rewrite all such files "
      "now,\n"
      "   while no process has the database open:\n"
      "     blocksieve rewrite --db {}\n"
      "   To restore stock filters:\n"
      "     blocksieve revert --db {}\n",
      ++step, db, db);
  return text;
}

std::string ToText(const AdviseOptions& options, const Advice& advice, const Source& source) {
  if (source.files.empty()) {
    return source.read.unopened.empty()
               ? "No verdict: the database has no files; nothing has been flushed yet.\n"
               : "No verdict: none of the files can be read.\n";
  }
  const Verdict verdict = JudgeAdvice(advice);
  const size_t num_families = advice.forest.trees.size();
  std::string text = verdict.text + "\n\n";
  if (source.stored) {
    const std::string unfiltered = FindUnfiltered(source.files, options.target, "\n", "\n").text;
    if (!unfiltered.empty()) text += unfiltered + "\n\n";
  }
  if (source.observed) {
    const auto predicted =
        num_families == 1 ? std::optional(advice.current.wasted_reads) : std::nullopt;
    text += cli::ToText(*source.observed, predicted) + "\n";
  }
  if (num_families > 1) text += fmt::format("{} column families: ", num_families);
  bool has_options = false;
  std::string stock =
      advice.stock ? HowToSetByProgram(advice.stock->policy(), source, &has_options) : "";
  if (advice.stock && stock.empty()) stock = CommandToSet(advice.stock->policy(), options, source);
  text += fmt::format("{} in {}. Column \"wasted reads\" is per lookup of an absent key.\n\n{}\n",
                      term::CountOf(advice.forest.num_keys(), "key"),
                      term::CountOf(advice.forest.num_runs(), "sorted run"), ToText(advice, stock));
  if (advice.windows) text += cli::ToText(*advice.windows);
  if (!source.unknown_families.empty()) {
    text += "Left out: " + UnknownFamiliesText(source.unknown_families) + ".\n\n";
  }
  if (!verdict.policy) return text;
  has_options = false;
  const std::string by_program = HowToSetByProgram(*verdict.policy, source, &has_options);
  if (!by_program.empty())
    return text + fmt::format("To set proposal \"{}\": {}\n", verdict.proposal, by_program);
  std::string refused;
  try {
    if (source.stored) CheckWritable(*source.stored, Access::kRewrite);
  } catch (const term::Failure& failure) {
    refused = fmt::format("The files cannot be rewritten as they are: {}\n\n", failure.what());
  }
  return text +
         fmt::format("Steps for proposal \"{}\"{}:\n\n{}\n", verdict.proposal,
                     has_options ? ", whose options the OPTIONS file has" : "",
                     StepsText(*verdict.policy,
                               has_options ? "" : CommandToSet(*verdict.policy, options, source),
                               source.database, options.target.family)) +
         refused;
}

Json ToJson(const AdviseOptions& options, const Advice& advice, const Source& source) {
  Json document = DescribeTarget(options.target);
  document["logs"] = options.logs;
  document["absent_fraction"] = advice.request.absent_fraction;
  document["left_out"] = source.unknown_families;
  document["observed"] = source.observed ? cli::ToJson(*source.observed) : Json(nullptr);
  document.update(ToJson(advice));
  AddMissed(source.read, &document);
  return document;
}

void RunAdvise(const AdviseOptions& options) {
  if (options.logs.empty() && options.target.path.empty()) {
    term::FailUsage("neither --db nor --log is given; required: one of them");
  }
  Source source = ReadSource(options);
  CountBlockIndexes(&source);
  AdviceRequest request = options.request;
  request.cache_is_enough =
      WhyCacheIsEnough(source.num_bytes,
                       options.cache_bytes ? *options.cache_bytes : source.cache_bytes.value_or(0));
  const bool has_lookups = source.observed && source.observed->lookups.value_or(0) != 0;
  request.absent_fraction = options.absent_fraction.value_or(
      has_lookups ? AbsentFraction(*source.observed).value_or(1) : 1);
  const Advice advice =
      Advise(MakeForest(source), request, KeysInFiles("building range filters and prefixes"));
  WriteReport(options.format, ToJson(options, advice, source),
              ToText(options, advice, source) + VanishedText(source.read));
  source.read.FailIfUnopened();
  if (advice.forest.trees.empty()) term::Fail("no verdict, as no keys could be counted");
}

}  // namespace

void AddAdviseCommand(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddSubcommand(app, action, "advise", "Show what other filters would cost and save",
                    kAdviseFooter, RunAdvise);
  AddTargetOptions(command, options, Subject::kAny);
  AddOption(command, &options->logs, "--log FILE",
            "an info log of RocksDB, instead of a database; repeatable");
  AddOption(command, &options->statistics, "--statistics FILE",
            "counters of RocksDB, as text or JSON; default those of --log");
  AddOption(command, &options->request.limit.memory, "--memory BYTES",
            "maximum memory for all filters, as 10MB or 64MiB; excludes --wasted-reads",
            BytesInRange(1, kMaxMemory));
  const auto& wasted_reads = rocksdb_plugin::PolicyOptionTable()["wasted_reads"];
  AddOption(command, &options->request.limit.wasted_reads, "--wasted-reads X",
            "maximum wasted reads per lookup of an absent key, " + wasted_reads.allowed +
                "; excludes --memory",
            InRange(wasted_reads));
  AddOption(command, &options->absent_fraction, "--absent-fraction F",
            "share of the lookups whose key is absent, 0 to 1 (default as counted, or 1)",
            InRange(0, 1));
  AddOption(command, &options->request.seek_fraction, "--seek-fraction F",
            "share of reads that are bounded seeks, 0 to 1; evaluates range filters and prefixes",
            InRange(0, 1));
  AddOption(command, &options->request.window, "--window F",
            "share of the values of a number in the key that a condition selects, 1e-6 to 0.5",
            InRange(1e-6, 0.5));
  AddOption(
      command, &options->request.range_width, "--range-width W",
      fmt::format(
          "mean number of keys between a seek key and its upper bound, 0 to {:.0f} (default {})",
          kMaxRangeWidth, AdviceRequest().range_width),
      InRange(0, kMaxRangeWidth));
  AddOption(command, &options->request.prefixes, "--prefixes BOUNDARIES",
            "where prefixes of keys end, as in the policy; without it, chosen from files and keys",
            PrefixBoundaries);
  AddOption(command, &options->cache_bytes, "--block-cache BYTES",
            "size of the block cache, as 64MiB; 0: none (default the database's)",
            BytesInRange(0, kMaxMemory));
  // Logs have no keys.
  Exclude(command, "--log", {"--db", "--seek-fraction", "--window"});
  Exclude(command, "--memory", {"--wasted-reads"});
  Need(command, "--range-width", "--seek-fraction");
  Need(command, "--prefixes", "--seek-fraction");
}

}  // namespace blocksieve::cli
