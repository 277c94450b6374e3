// sieve: whether the URL sieve is exact on millions of URLs, what its filters do for it, and how
// fast it is pushed to, against the same program with RocksDB's Bloom filters of 10 bits.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/sieve/experiment.h"
#include "bench/support/command_line.h"
#include "bench/support/json_file.h"
#include "bench/support/median.h"
#include "bench/support/progress.h"
#include "bench/support/run_main.h"
#include "bench/support/targets.h"
#include "bench/support/temp_dir.h"

namespace blocksieve::bench::sieve {
namespace {

using blocksieve::sieve::FileFilters;

struct Options {
  uint64_t urls = 20'000'000;
  uint64_t round_urls = 4'000'000;
  uint64_t rounds = 5;
  bool quick = false;
  std::filesystem::path out = "build/bench-results";
};

struct Throughput {
  std::vector<double> blocksieve;  // URLs per second, by round
  std::vector<double> stock;

  double Ratio() const {
    std::vector<double> ratios;
    for (size_t i = 0; i < stock.size(); ++i) ratios.push_back(blocksieve[i] / stock[i]);
    return Median(ratios);
  }
};

// Who is first changes from round to round: what one leaves behind in the machine meets the other.
Throughput MeasureThroughput(const Options& options, const std::filesystem::path& dir,
                             Progress* progress) {
  Throughput result;
  for (uint64_t round = 0; round < options.rounds; ++round) {
    for (const bool second : {false, true}) {
      const bool is_stock = second != (round % 2 == 1);
      progress->Show(fmt::format("round {} of {}, {}", round + 1, options.rounds,
                                 is_stock ? "stock Bloom" : "blocksieve"));
      const std::filesystem::path database = dir / "round";
      (is_stock ? result.stock : result.blocksieve)
          .push_back(MeasurePushes(database,
                                   is_stock ? FileFilters::kStockBloom : FileFilters::kBlocksieve,
                                   options.round_urls, round));
      std::filesystem::remove_all(database);
    }
  }
  return result;
}

double Ratio(uint64_t part, uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

Targets TargetsOf(const Exactness& exact, const Throughput& throughput) {
  const auto share_without_reading = [](uint64_t by_reading, uint64_t new_urls) {
    return 100 * (1 - Ratio(by_reading, new_urls));
  };
  Targets targets;
  targets.AtMost("repeats let through", static_cast<double>(exact.let_through), 0);
  targets.AtMost("new URLs dropped", static_cast<double>(exact.dropped), 0);
  targets.AtMost("out of order", static_cast<double>(exact.out_of_order), 0);
  targets.AtLeast("new URLs told without a data block, while loading",
                  share_without_reading(exact.loaded.new_by_reading, exact.loaded.new_urls()), 98.5,
                  "%");
  targets.AtLeast("the same, compacted",
                  share_without_reading(exact.later_by_reading, exact.later_new), 98.5, "%");
  targets.AtMost("filter bits per URL, compacted",
                 8 * Ratio(exact.compacted.filter_bytes(), exact.compacted.seen), 7.2);
  const double estimated =
      exact.compacted.estimated.keys / static_cast<double>(exact.compacted.seen);
  targets.AtMost("estimated against exact cardinality", 100 * std::abs(estimated - 1), 0.5, "%");
  targets.AtLeast("push throughput against stock Bloom 10, median", throughput.Ratio(), 1.0, "x");
  return targets;
}

void Run(int argc, const char* const* argv) {
  Options options;
  CLI::App app("The URL sieve: exactness, filter memory, and throughput", "bench/run sieve");
  app.add_option("--urls", options.urls, "URLs of the exactness run, 30 % of them repeats");
  app.add_option("--round-urls", options.round_urls, "URLs of a round of the throughput run");
  app.add_option("--rounds", options.rounds, "rounds of the throughput run")
      ->check(CLI::PositiveNumber);
  app.add_flag("--quick", options.quick, "a tenth of the URLs");
  app.add_option("--out", options.out, "directory of results and databases");
  ParseOrExit(app, argc, argv);
  if (options.quick) {
    options.urls /= 10;
    options.round_urls /= 10;
  }
  std::filesystem::create_directories(options.out);
  const TempDir dir(options.out);
  Progress progress;
  const Throughput throughput = MeasureThroughput(options, dir.path(), &progress);
  const Exactness exact = MeasureExactness(dir.path() / "exact", options.urls, 4, &progress);
  progress.Show("");

  const Targets targets = TargetsOf(exact, throughput);
  fmt::print(
      "{} URLs pushed, {} of them different, with {} restarts: {:.0f} per second\n"
      "loaded: {:.2f} filter bits per URL; compacted: {:.2f}, of which counting filters {:.2f}\n"
      "throughput of {} rounds of {} URLs, median: blocksieve {:.0f}, stock Bloom {:.0f} per "
      "second\n\n{}",
      exact.pushed, exact.distinct, exact.restarts,
      static_cast<double>(exact.pushed) / exact.push_seconds,
      8 * Ratio(exact.loaded.filter_bytes(), exact.loaded.seen),
      8 * Ratio(exact.compacted.filter_bytes(), exact.compacted.seen),
      8 * Ratio(exact.compacted.counting_filter_bytes, exact.compacted.seen), options.rounds,
      options.round_urls, Median(throughput.blocksieve), Median(throughput.stock),
      targets.ToText());
  const nlohmann::ordered_json document = {{"urls", exact.pushed},
                                           {"distinct", exact.distinct},
                                           {"blocksieve_urls_per_second", throughput.blocksieve},
                                           {"stock_urls_per_second", throughput.stock},
                                           {"targets", targets.ToJson()}};
  WriteJsonFile(document, options.out, "sieve.json");
}

}  // namespace
}  // namespace blocksieve::bench::sieve

int main(int argc, char** argv) {
  return blocksieve::bench::RunMain([&] { blocksieve::bench::sieve::Run(argc, argv); });
}
