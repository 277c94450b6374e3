// SPDX-License-Identifier: Apache-2.0
#include "integration/sieve/url_sieve.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "integration/cli/commands/options.h"

namespace blocksieve::cli {
namespace {

using sieve::SieveStats;
using sieve::UrlCounts;
using sieve::UrlSieve;

constexpr const char* kSieveFooter =
    R"help(A sieve queues each URL once, even after it was popped. Subcommands run in the order given. FILE has
one URL per line; - is standard input. URLs are compared byte by byte; empty lines are ignored.
push and forget report on standard error; so does pop if a pipe is closed early, as in
`pop 100 | head -1`. Queued URLs survive a crash. If the program is killed during pop, no URL is
lost, but some may be popped again.

Examples:
  blocksieve sieve --db crawl push urls.txt
  blocksieve sieve --db crawl pop 100 >batch.txt
  extract_links <pages | blocksieve sieve --db crawl push - stats
  blocksieve sieve --db crawl forget stale.txt push stale.txt)help";

constexpr const char* kUrls = "the URLs; - is standard input";
constexpr uint64_t kMaxUrls = uint64_t{1} << 50;

struct SieveCommandOptions {
  std::string db;
  sieve::SieveOptions sieve;
  std::string format = "text";
  std::string push_file;
  std::string forget_file;
  uint64_t pop_urls = 1;
  std::vector<std::string> steps;
};

void CheckStatus(const rocksdb::Status& status, const std::string& db) {
  if (status.ok()) return;
  if (status.IsNotFound() && status.getState() != nullptr) {
    term::Fail("{}: {}; to create one: push", db, status.getState());
  }
  if (status.IsInvalidArgument() && status.getState() != nullptr) {
    term::FailUsage("{}: {}", db, status.getState());
  }
  FailToOpen(db, status);
}

void ReportLine(const std::string& text) {
  if (term::InterruptFlag()) throw term::Interrupted("interrupted; " + text);
  term::WriteToStandardError("blocksieve sieve: " + text + "\n");
}

using TakeUrls = rocksdb::Status (UrlSieve::*)(std::span<const std::string_view>, UrlCounts*);

/// Passes all URLs of a file to the sieve in batches.
UrlCounts FeedFile(const SieveCommandOptions& options, const std::string& file, const char* doing,
                   UrlSieve* sieve, TakeUrls take) {
  constexpr size_t kLines = 1 << 15;
  constexpr size_t kBytes = 16 << 20;
  term::LineReader lines(file);
  term::Progress progress;
  UrlCounts counts;
  for (bool is_at_end = false; !is_at_end;) {
    std::vector<std::string> urls;
    for (size_t bytes = 0; urls.size() < kLines && bytes < kBytes;) {
      const auto line = lines.Next();
      is_at_end = !line;
      if (is_at_end) break;
      bytes += line->size();
      if (!line->empty()) urls.emplace_back(*line);
    }
    const std::vector<std::string_view> views(urls.begin(), urls.end());
    CheckStatus((sieve->*take)(views, &counts), options.db);
    progress.Show(doing, lines.bytes_read(), lines.file_bytes(), counts.new_urls + counts.known,
                  "URL");
  }
  return counts;
}

void Push(const SieveCommandOptions& options, UrlSieve* sieve) {
  const UrlCounts counts = FeedFile(options, options.push_file, "pushing", sieve, &UrlSieve::Push);
  ReportLine(fmt::format("pushed {}, of which {} were new",
                         term::CountOf(counts.new_urls + counts.known, "URL"),
                         term::WithCommas(counts.new_urls)));
}

void Forget(const SieveCommandOptions& options, UrlSieve* sieve) {
  const UrlCounts counts =
      FeedFile(options, options.forget_file, "forgetting", sieve, &UrlSieve::Forget);
  ReportLine(fmt::format("forgot {}; {} had not been seen", term::CountOf(counts.known, "URL"),
                         term::WithCommas(counts.new_urls)));
}

void Pop(const SieveCommandOptions& options, UrlSieve* sieve, term::Output* output) {
  const auto take = [&](std::span<const std::string> urls) {
    for (const std::string& url : urls) output->Write(url + "\n");
    output->Flush();
    return output->is_wanted() && !term::InterruptFlag();
  };
  uint64_t num_popped = 0;
  CheckStatus(sieve->Pop(options.pop_urls, take, &num_popped), options.db);
  const std::string popped = term::CountOf(num_popped, "URL") + " left the queue";
  if (!output->is_wanted()) {
    ReportLine("output closed; " + popped + ", the last batch may still be queued");
  }
  if (term::InterruptFlag()) throw term::Interrupted("interrupted; " + popped);
}

Json Describe(const SieveStats& stats) {
  // Infinite if a counting filter is full.
  const auto estimate = [](double number) { return std::isfinite(number) ? Json(number) : Json(); };
  return {{"seen", stats.seen},
          {"estimated", estimate(stats.estimated.keys)},
          {"estimated_standard_error", estimate(stats.estimated.standard_error)},
          {"queued", stats.queued},
          {"counting_filter_bytes", stats.counting_filter_bytes},
          {"file_filter_bytes", stats.file_filter_bytes},
          {"filter_bits_per_url", 8 * Ratio(stats.filter_bytes(), stats.seen)},
          {"new_by_counting_filter", stats.new_by_counting_filter},
          {"new_by_file_filters", stats.new_by_file_filters},
          {"new_by_reading", stats.new_by_reading},
          {"repeats", stats.repeats},
          {"overfull", !stats.overfull.empty()}};
}

// The members of the document, a row each.
std::string StatsText(const Json& stats) {
  Json rows = Json::array();
  for (const auto& [name, value] : stats.items()) rows.push_back({name, value});
  const auto text = [](const Json& value) {
    return value.is_number_integer() ? CountText(value)
           : value.is_number()       ? term::NumberText(value, 6)
                                     : PlainText(value);
  };
  return TableText({{"URLs", "/0", PlainText}, {"", "/1", text}}, rows);
}

void PrintStats(const SieveCommandOptions& options, UrlSieve* sieve, term::Output* output) {
  SieveStats stats;
  CheckStatus(sieve->GetStats(&stats), options.db);
  const Json document = Describe(stats);
  output->Write(options.format == "json" ? JsonLine(document) : StatsText(document));
}

void Compact(const SieveCommandOptions& options, UrlSieve* sieve) {
  term::Progress progress;
  const rocksdb::Status status =
      sieve->Compact(&term::InterruptFlag(), [&progress](size_t done, size_t all) {
        progress.Show("compacting", done, all, done, "part");
      });
  if (term::InterruptFlag()) throw term::Interrupted("interrupted; compaction is incomplete");
  CheckStatus(status, options.db);
}

void RunSieve(const SieveCommandOptions& options) {
  term::CatchInterrupts();
  std::unique_ptr<UrlSieve> sieve;
  sieve::SieveOptions opening = options.sieve;
  opening.create_if_missing = std::ranges::find(options.steps, "push") != options.steps.end();
  CheckStatus(UrlSieve::Open(options.db, opening, &sieve), options.db);
  term::Output output;
  for (const std::string& step : options.steps) {
    if (step == "push") Push(options, sieve.get());
    if (step == "pop") Pop(options, sieve.get(), &output);
    if (step == "forget") Forget(options, sieve.get());
    if (step == "compact") Compact(options, sieve.get());
    if (step == "stats") PrintStats(options, sieve.get(), &output);
  }
  output.Flush();
  CheckStatus(sieve->Close(), options.db);
}

}  // namespace

void AddSieveCommand(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddSubcommand(app, action, "sieve", "A persistent queue that accepts each URL once",
                    kSieveFooter, RunSieve);
  AddOption(command, &options->db, "--db DIR", "the directory of the sieve; push creates it",
            nullptr, kRequired);
  AddOption(command, &options->sieve.design_urls, "--design N",
            "initial capacity of a new sieve, in URLs; 0: 65536 (default 0)",
            WholeInRange(0, 10'000'000'000));
  AddFormatOption(command, &options->format);

  std::vector<std::string>* const steps = &options->steps;
  CLI::App* step = AddStep(command, "push", "queue URLs that were never pushed before", steps);
  AddOption(step, &options->push_file, "FILE", kUrls, nullptr, kRequired);
  step = AddStep(command, "pop", "print the next URLs and remove them from the queue", steps);
  AddOption(step, &options->pop_urls, "N", "maximum number of URLs", WholeInRange(1, kMaxUrls),
            kRequired);
  step = AddStep(command, "forget", "let URLs be pushed again as new", steps);
  AddOption(step, &options->forget_file, "FILE", kUrls, nullptr, kRequired);
  AddStep(command, "compact", "rewrite the sieve into minimal space", steps);
  AddStep(command, "stats", "print the number of URLs and what the filters save", steps);
}

}  // namespace blocksieve::cli
