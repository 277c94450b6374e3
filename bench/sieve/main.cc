// sieve: whether the URL sieve is exact on millions of URLs, what its filters do for it, and how
// fast it is pushed to, against the same program with RocksDB's Bloom filters of 10 bits.

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <vector>

#include "bench/sieve/experiment.h"
#include "bench/support/files.h"
#include "bench/support/job.h"
#include "bench/support/results.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench::sieve {
namespace {

using blocksieve::sieve::FileFilters;

const JobManual kManual = {
    .name = "bench/run sieve",
    .description = "The URL sieve: exactness, filter memory, and throughput",
    .quick_help = "a tenth of the URLs",
    .files = "sieve.json and databases",
};

struct Sizes {
  uint64_t urls = 20'000'000;
  uint64_t round_urls = 4'000'000;
  uint64_t rounds = 5;
};

struct Throughput {
  std::vector<double> blocksieve;  // URLs per second, by round
  std::vector<double> stock;
};

// Who is first changes from round to round: what one leaves behind in the machine meets the other.
Throughput MeasureThroughput(const Sizes& sizes, const std::filesystem::path& dir,
                             Progress* progress) {
  Throughput result;
  for (uint64_t round = 0; round < sizes.rounds; ++round) {
    for (const bool second : {false, true}) {
      const bool is_stock = second != (round % 2 == 1);
      progress->Show(fmt::format("round {} of {}, {}", round + 1, sizes.rounds,
                                 is_stock ? "stock Bloom" : "blocksieve"));
      const std::filesystem::path database = dir / "round";
      (is_stock ? result.stock : result.blocksieve)
          .push_back(MeasurePushes(database,
                                   is_stock ? FileFilters::kStockBloom : FileFilters::kBlocksieve,
                                   sizes.round_urls, round));
      std::filesystem::remove_all(database);
    }
  }
  return result;
}

double Share(uint64_t part, uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

void AddStats(const blocksieve::sieve::SieveStats& stats, uint64_t new_urls, uint64_t by_reading,
              Results::Rows rows) {
  const auto bits = [&](uint64_t bytes) { return 8 * Share(bytes, stats.seen); };
  rows.Add("filter bits per URL", "bits", bits(stats.filter_bytes()))
      .Add("of counting filters", "bits", bits(stats.counting_filter_bytes))
      .Add("new URLs known without a data block", "share", 1 - Share(by_reading, new_urls))
      .Add("error of the estimated number", "share",
           std::abs(stats.estimated.keys / static_cast<double>(stats.seen) - 1));
}

Results ToResults(const Exactness& exact, const Sizes& sizes, const Throughput& throughput) {
  Results results("sieve");
  results.SetFact("urls", exact.pushed);
  results.SetFact("distinct", exact.distinct);
  results.SetFact("restarts", exact.restarts);
  results.SetFact("round_urls", sizes.round_urls);
  std::vector<double> rates;
  const uint64_t part = exact.pushed / exact.push_seconds.size();
  for (const double seconds : exact.push_seconds) {
    rates.push_back(static_cast<double>(part) / seconds);
  }
  results.Of("all URLs")
      .Add("wrong answers", "count", static_cast<double>(exact.let_through + exact.dropped))
      .Add("repeats let through", "count", static_cast<double>(exact.let_through))
      .Add("new URLs dropped", "count", static_cast<double>(exact.dropped))
      .Add("out of order", "count", static_cast<double>(exact.out_of_order))
      .AddTurns("pushed per second", "count", rates);
  AddStats(exact.loaded, exact.loaded.new_urls(), exact.loaded.new_by_reading,
           results.Of("loaded"));
  AddStats(exact.compacted, exact.later_new, exact.later_by_reading, results.Of("compacted"));
  const auto add_rounds = [&](const char* name, const std::vector<double>& rounds) {
    results.Of(name).AddTurns("pushed per second", "count", rounds);
  };
  add_rounds("blocksieve", throughput.blocksieve);
  add_rounds("stock Bloom 10", throughput.stock);
  results.Of("blocksieve")
      .Add("of stock Bloom", "x", PairedRatio(throughput.blocksieve, throughput.stock));
  return results;
}

void Run(int argc, const char* const* argv) {
  Sizes sizes;
  const JobOptions options = ParseJobOptions(
      kManual, argc, argv,
      {{"--urls", "N", "URLs of the exactness run, 30 % of them repeats (default 20000000)",
        &sizes.urls, 1000, 1e10},
       {"--round-urls", "N", "URLs of a round of the throughput run (default 4000000)",
        &sizes.round_urls, 1000, 1e10},
       {"--rounds", "N", "rounds of the throughput run (default 5)", &sizes.rounds, 1, 1000}});
  if (options.quick) {
    sizes.urls /= 10;
    sizes.round_urls /= 10;
  }
  const TempDir dir(PrepareOutput(options));
  Progress progress;
  const Throughput throughput = MeasureThroughput(sizes, dir.path(), &progress);
  const Exactness exact = MeasureExactness(dir.path() / "exact", sizes.urls, 4, &progress);
  ToResults(exact, sizes, throughput).Write(options.out);
}

}  // namespace
}  // namespace blocksieve::bench::sieve

int main(int argc, char** argv) {
  return blocksieve::bench::RunMain([&] { blocksieve::bench::sieve::Run(argc, argv); });
}
