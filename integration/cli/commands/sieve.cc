#include "integration/sieve/url_sieve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/cli/commands/options.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/interrupt.h"
#include "integration/cli/term/line_reader.h"
#include "integration/cli/term/progress.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"
#include "integration/cli/term/text_table.h"
#include "integration/sieve/normalize_url.h"

namespace blocksieve::cli {
namespace {

using sieve::SieveStats;
using sieve::UrlSieve;

constexpr const char* kSieveFooter =
    R"help(A sieve queues each URL once, even after it was popped. Subcommands run in the order given. FILE has
one URL per line; - is standard input. URLs are compared byte by byte, unless --normalize is given;
empty lines are ignored. push and forget report on standard error; standard output has only the
output of pop and stats. If a pipe is closed early, as in `pop 100 | head -1`, pop reports on
standard error how many URLs left the queue.

Queued URLs survive a crash. If the program is killed during pop, no URL is lost, but some may be
popped again.

Examples:
  blocksieve sieve --db crawl push urls.txt
  blocksieve sieve --db crawl pop 100 >batch.txt
  extract_links <pages | blocksieve sieve --db crawl --normalize push - stats
  blocksieve sieve --db crawl forget stale.txt push stale.txt)help";

constexpr uint64_t kMaxUrls = uint64_t{1} << 50;

struct SieveCommandOptions {
  std::string db;
  sieve::SieveOptions sieve;
  bool normalize = false;
  OutputFormat format = OutputFormat::kText;
  std::string push_file;
  std::string forget_file;
  uint64_t pop_urls = 1;
};

void CheckStatus(const rocksdb::Status& status, const std::string& db) {
  if (status.ok()) return;
  if (status.IsNotFound() && status.getState() != nullptr) {
    term::Fail("{}: {}; to create one: push", db, status.getState());
  }
  if (status.IsInvalidArgument() && status.getState() != nullptr) {
    term::FailUsage("{}: {}", db, status.getState());
  }
  term::Fail("sieve {}: {}", db, status.ToString());
}

/// Reads lines of a file in batches.
class LineBatches {
 public:
  explicit LineBatches(const std::string& file, bool normalize)
      : lines_(file), normalize_(normalize) {}

  /// False at the end. The lines are valid until the next call.
  bool Next(std::vector<std::string_view>* batch) {
    constexpr size_t kLines = 1 << 15;
    constexpr size_t kBytes = 16 << 20;
    text_.clear();
    ends_.clear();
    while (ends_.size() < kLines && text_.size() < kBytes) {
      const auto line = lines_.Next();
      if (!line) break;
      const size_t before = text_.size();
      text_ += normalize_ ? sieve::NormalizeUrl(*line) : *line;
      if (text_.size() > before) ends_.push_back(text_.size());
    }
    batch->clear();
    size_t begin = 0;
    for (const size_t end : ends_) {
      batch->push_back(std::string_view(text_).substr(begin, end - begin));
      begin = end;
    }
    return !batch->empty();
  }

  /// The progress in the file after `num_urls`.
  term::Advance AdvanceOf(uint64_t num_urls) const {
    return {lines_.bytes_read(), lines_.file_bytes(), num_urls, "URL"};
  }

 private:
  term::LineReader lines_;
  const bool normalize_;
  std::string text_;
  std::vector<size_t> ends_;
};

void ReportLine(const std::string& text) {
  if (term::InterruptFlag()) throw term::Interrupted("interrupted; " + text);
  term::WriteToStandardError("blocksieve sieve: " + text + "\n");
}

/// Passes all URLs of a file to `take` in batches.
void FeedFile(const SieveCommandOptions& options, const std::string& file, const char* doing,
              const std::function<rocksdb::Status(std::span<const std::string_view>)>& take) {
  LineBatches lines(file, options.normalize);
  term::Progress progress;
  uint64_t num_urls = 0;
  for (std::vector<std::string_view> batch; lines.Next(&batch);) {
    CheckStatus(take(batch), options.db);
    num_urls += batch.size();
    if (progress.IsDue()) progress.Show(doing, lines.AdvanceOf(num_urls));
  }
}

void Push(const SieveCommandOptions& options, UrlSieve* sieve) {
  sieve::PushCounts counts;
  FeedFile(options, options.push_file, "pushing",
           [&](const auto& urls) { return sieve->Push(urls, &counts); });
  ReportLine(fmt::format("pushed {}, of which {} were new",
                         term::CountOf(counts.new_urls + counts.repeats, "URL"),
                         term::WithCommas(counts.new_urls)));
}

void Forget(const SieveCommandOptions& options, UrlSieve* sieve) {
  sieve::ForgetCounts counts;
  FeedFile(options, options.forget_file, "forgetting",
           [&](const auto& urls) { return sieve->Forget(urls, &counts); });
  ReportLine(fmt::format("forgot {}; {} had not been seen", term::CountOf(counts.forgotten, "URL"),
                         term::WithCommas(counts.not_seen)));
}

void Pop(const SieveCommandOptions& options, UrlSieve* sieve, term::Output* output) {
  const auto take = [&](std::span<const std::string> urls) {
    for (const std::string& url : urls) output->WriteLine(url);
    output->Flush();
    return output->is_wanted() && !term::InterruptFlag();
  };
  uint64_t num_popped = 0;
  CheckStatus(sieve->Pop(options.pop_urls, take, &num_popped), options.db);
  if (!output->is_wanted()) {
    ReportLine(fmt::format("output closed; {} left the queue, the last batch may still be queued",
                           term::CountOf(num_popped, "URL")));
  }
  if (term::InterruptFlag()) {
    throw term::Interrupted(
        fmt::format("interrupted; {} left the queue", term::CountOf(num_popped, "URL")));
  }
}

std::string StatsText(const SieveStats& stats) {
  const uint64_t answered = stats.new_by_counting_filter + stats.new_by_file_filters;
  term::TextTable table({"", "", ""});
  const auto add = [&](const char* what, std::string value, std::string note) {
    table.AddRow({what, std::move(value), std::move(note)});
  };
  const auto share = [&](uint64_t part) {
    return fmt::format("{:.3f} %", 100 * term::Ratio(part, stats.new_urls()));
  };
  add("seen", term::WithCommas(stats.seen), "");
  add("seen, estimated",
      term::WithCommas(static_cast<uint64_t>(std::llround(stats.estimated.keys))),
      fmt::format("{:+.3f} %",
                  stats.seen == 0
                      ? 0
                      : 100 * (stats.estimated.keys / static_cast<double>(stats.seen) - 1)));
  add("queued", term::WithCommas(stats.queued), "");
  add("filter bytes", term::WithCommas(stats.filter_bytes()),
      fmt::format("{:.2f} bits per URL", 8 * term::Ratio(stats.filter_bytes(), stats.seen)));
  add("  counting filters", term::WithCommas(stats.counting_filter_bytes), "");
  add("  filters of files", term::WithCommas(stats.file_filter_bytes), "");
  add("new URLs ever", term::WithCommas(stats.new_urls()), "");
  add("  recognized without I/O", term::WithCommas(answered), share(answered));
  add("    by counting filters", term::WithCommas(stats.new_by_counting_filter),
      share(stats.new_by_counting_filter));
  add("    by filters of files", term::WithCommas(stats.new_by_file_filters),
      share(stats.new_by_file_filters));
  add("  recognized by reading", term::WithCommas(stats.new_by_reading),
      share(stats.new_by_reading));
  add("repeats ever", term::WithCommas(stats.repeats), "");
  std::string text = table.ToString();
  text.erase(0, text.find('\n') + 1);  // the headers are empty
  if (!stats.overfull.empty()) {
    text += fmt::format("A counting {}: `compact` makes larger ones.\n", stats.overfull);
  }
  return text;
}

std::string StatsJson(const SieveStats& stats) {
  const nlohmann::ordered_json document = {
      {"seen", stats.seen},
      {"estimated", stats.estimated.keys},
      {"estimated_standard_error", stats.estimated.standard_error},
      {"queued", stats.queued},
      {"counting_filter_bytes", stats.counting_filter_bytes},
      {"file_filter_bytes", stats.file_filter_bytes},
      {"filter_bits_per_url", 8 * term::Ratio(stats.filter_bytes(), stats.seen)},
      {"new_by_counting_filter", stats.new_by_counting_filter},
      {"new_by_file_filters", stats.new_by_file_filters},
      {"new_by_reading", stats.new_by_reading},
      {"repeats", stats.repeats},
      {"overfull", !stats.overfull.empty()}};
  return JsonText(document);
}

void PrintStats(const SieveCommandOptions& options, UrlSieve* sieve, term::Output* output) {
  SieveStats stats;
  CheckStatus(sieve->GetStats(&stats), options.db);
  output->Write(options.format == OutputFormat::kJson ? StatsJson(stats) : StatsText(stats));
}

void Compact(const SieveCommandOptions& options, UrlSieve* sieve) {
  term::Progress progress;
  const rocksdb::Status status =
      sieve->Compact(&term::InterruptFlag(), [&progress](size_t done, size_t all) {
        progress.Show("compacting", {done, all, done, "part"});
      });
  if (term::InterruptFlag()) throw term::Interrupted("interrupted; compaction is incomplete");
  CheckStatus(status, options.db);
}

void RunStep(const std::string& step, const SieveCommandOptions& options, UrlSieve* sieve,
             term::Output* output) {
  if (step == "push") Push(options, sieve);
  if (step == "pop") Pop(options, sieve, output);
  if (step == "forget") Forget(options, sieve);
  if (step == "compact") Compact(options, sieve);
  if (step == "stats") PrintStats(options, sieve, output);
}

void RunSieve(const SieveCommandOptions& options, const std::vector<std::string>& steps) {
  term::CatchInterrupts();
  std::unique_ptr<UrlSieve> sieve;
  sieve::SieveOptions opening = options.sieve;
  opening.create_if_missing = std::find(steps.begin(), steps.end(), "push") != steps.end();
  CheckStatus(UrlSieve::Open(options.db, opening, &sieve), options.db);
  term::Output output;
  for (const std::string& step : steps) RunStep(step, options, sieve.get(), &output);
  output.Flush();
  CheckStatus(sieve->Close(), options.db);
}

}  // namespace

void AddSieveCommand(CLI::App* app, Action* action) {
  const auto options = std::make_shared<SieveCommandOptions>();
  CLI::App* const command =
      AddSubcommand(app, "sieve", "A persistent queue that accepts each URL once", kSieveFooter);
  AddDatabaseOption(command, &options->db, "the directory of the sieve; push creates it");
  AddOption(command, &options->sieve.num_shards,
            {"--shards", "N",
             "number of parallel parts; 0: as the sieve has, or 4 for a new one (default 0)",
             WholeInRange(0, 64)});
  AddOption(command, &options->sieve.design_urls,
            {"--design", "N", "initial capacity of a new sieve, in URLs; 0: 65536 (default 0)",
             WholeInRange(0, 10'000'000'000)});
  AddFlag(command, &options->normalize, "--normalize",
          "normalize URLs in push and forget (RFC 3986, 6.2)");
  AddFormatOption(command, &options->format);

  const OptionSpec urls = {"FILE", "", "the URLs; - is standard input", nullptr, kRequired};
  CLI::App* step = AddStep(command, "push", "queue URLs that were never pushed before");
  AddOption(step, &options->push_file, urls);
  step = AddStep(command, "pop", "print the next URLs and remove them from the queue");
  AddOption(step, &options->pop_urls,
            {"N", "", "maximum number of URLs", WholeInRange(1, kMaxUrls), kRequired});
  step = AddStep(command, "forget", "let URLs be pushed again as new");
  AddOption(step, &options->forget_file, urls);
  AddStep(command, "compact", "rewrite the sieve into minimal space");
  AddStep(command, "stats", "print the number of URLs and what the filters save");
  SetAction(command, action, [options, command] { RunSieve(*options, GivenSteps(*command)); });
}

}  // namespace blocksieve::cli
