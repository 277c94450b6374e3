// sieve: whether the URL sieve is exact on millions of URLs, what its filters do for it, and how
// fast it is pushed to, against the same program with RocksDB's Bloom filters of 10 bits.

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "bench/sieve/experiment.h"
#include "bench/support/files.h"
#include "bench/support/job.h"
#include "bench/support/json_file.h"
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

Json ToJson(const blocksieve::sieve::SieveStats& stats) {
  return {{"urls", stats.seen},
          {"new_urls", stats.new_urls()},
          {"new_by_reading", stats.new_by_reading},
          {"filter_bytes", stats.filter_bytes()},
          {"counting_filter_bytes", stats.counting_filter_bytes},
          {"estimated_urls", stats.estimated.keys}};
}

Json ToJson(const Exactness& exact, const Sizes& sizes, const Throughput& throughput) {
  return {{"urls", exact.pushed},
          {"distinct", exact.distinct},
          {"restarts", exact.restarts},
          {"push_seconds", exact.push_seconds},
          {"let_through", exact.let_through},
          {"dropped", exact.dropped},
          {"out_of_order", exact.out_of_order},
          {"loaded", ToJson(exact.loaded)},
          {"compacted", ToJson(exact.compacted)},
          {"later", {{"new_urls", exact.later_new}, {"new_by_reading", exact.later_by_reading}}},
          {"round_urls", sizes.round_urls},
          {"blocksieve_urls_per_second", throughput.blocksieve},
          {"stock_urls_per_second", throughput.stock}};
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
  WriteJsonFile(ToJson(exact, sizes, throughput), options.out, "sieve.json");
}

}  // namespace
}  // namespace blocksieve::bench::sieve

int main(int argc, char** argv) {
  return blocksieve::bench::RunMain([&] { blocksieve::bench::sieve::Run(argc, argv); });
}
