#include <fmt/format.h>
#include <rocksdb/filter_policy.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/filter_bench/contestants.h"
#include "bench/filter_bench/keys.h"
#include "bench/support/command_line.h"
#include "bench/support/failure.h"
#include "bench/support/median.h"
#include "bench/support/progress.h"
#include "bench/support/run_main.h"
#include "blocksieve/rocksdb/filter_policy.h"

// Space, rate and speed of every stock configuration and of ours at the same rate, in one run: the
// frontier between bits per key, false-positive rate and probe time. Writes JSON; frontier.py makes
// the table, section.py the plots.

namespace blocksieve::bench {
namespace {

struct Options {
  std::string out = "frontier.json";
  std::vector<uint64_t> sizes{10'000, 1'000'000};
  int rounds = 9;
};

struct Configuration {
  std::string family;
  std::string setting;
  Contestant contestant;
  std::string stock;  // whose rate it was asked to reach; empty for stock itself
};

struct Measurement {
  double bits_per_key = 0;
  double fpr = 0;
  double build_ns = 0;
  std::vector<double> absent_ns;
};

constexpr double kStockBits[] = {5, 8, 10, 12, 16, 20};
constexpr uint64_t kProbesPerRound = 1 << 18;

// A hair below the measured rate of the stock filter, so that ours is not above it by chance.
constexpr double kMargin = 0.98;

double Now() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double TimeAbsent(const BuiltFilter& filter) {
  static uint64_t next = kFirstAbsent;
  uint64_t positives = 0;
  const double start = Now();
  for (uint64_t i = 0; i < kProbesPerRound; ++i) {
    const Key16 key(next + i);
    positives += filter.reader->MayMatch({key.view().data(), key.view().size()});
  }
  const double elapsed = Now() - start;
  next += kProbesPerRound + (positives & 1);  // the compiler may not drop the probes
  return elapsed / static_cast<double>(kProbesPerRound);
}

// Enough probes for the standard error of a rate to be 0.5 %, of the lowest rates 0.6 %: well below
// kMargin.
uint64_t FprProbes(double expected_fpr) {
  return static_cast<uint64_t>(std::clamp(40'000 / expected_fpr, 1e6, 1.6e8));
}

std::vector<Configuration> StockConfigurations() {
  std::vector<Configuration> configurations;
  for (const double bits : kStockBits) {
    const std::string setting = std::to_string(static_cast<int>(bits));
    using Policy = std::shared_ptr<const rocksdb::FilterPolicy>;
    configurations.push_back(
        {"stock Bloom",
         setting,
         {"stock Bloom " + setting, Policy(rocksdb::NewBloomFilterPolicy(bits))},
         ""});
    configurations.push_back(
        {"stock Ribbon",
         setting,
         {"stock Ribbon " + setting, Policy(rocksdb::NewRibbonFilterPolicy(bits, -1))},
         ""});
  }
  return configurations;
}

Configuration Ours(PolicyKind kind, const char* family, double target_fpr,
                   const std::string& stock) {
  FilterPolicyOptions options;
  options.kind = kind;
  options.target_fpr = target_fpr;
  const std::string setting = std::to_string(target_fpr);
  return {family, setting, {family, NewFilterPolicy(options)}, stock};
}

nlohmann::json Run(const Options& options) {
  Progress progress;
  nlohmann::json rows = nlohmann::json::array();
  for (const uint64_t num_keys : options.sizes) {
    std::vector<Configuration> configurations = StockConfigurations();
    std::vector<BuiltFilter> filters;
    std::vector<Measurement> measurements;
    const auto build = [&](const Configuration& configuration, double expected_fpr) {
      Measurement measurement;
      const double start = Now();
      filters.push_back(Build(configuration.contestant, num_keys));
      measurement.build_ns = (Now() - start) / static_cast<double>(num_keys);
      measurement.bits_per_key =
          8.0 * static_cast<double>(filters.back().contents.size()) / static_cast<double>(num_keys);
      measurement.fpr = MeasureFpr(filters.back(), FprProbes(expected_fpr));
      measurements.push_back(measurement);
    };
    const size_t num_stock = configurations.size();
    for (size_t i = 0; i < num_stock; ++i) {
      const double half_per_bit = std::stod(configurations[i].setting);
      build(configurations[i], std::exp2(-0.65 * half_per_bit));
    }
    for (size_t i = 0; i < num_stock; ++i) {
      const double target = kMargin * measurements[i].fpr;
      const std::string stock = configurations[i].contestant.name;
      configurations.push_back(Ours(PolicyKind::kBloom, "blocksieve bloom", target, stock));
      configurations.push_back(Ours(PolicyKind::kRibbon, "blocksieve ribbon", target, stock));
    }
    for (size_t i = num_stock; i < configurations.size(); ++i) {
      build(configurations[i], std::stod(configurations[i].setting));
    }
    for (int round = 0; round < options.rounds; ++round) {
      for (size_t i = 0; i < filters.size(); ++i) {
        measurements[i].absent_ns.push_back(TimeAbsent(filters[i]));
      }
      progress.Show(fmt::format("{} keys, round {} of {}", num_keys, round + 1, options.rounds));
    }
    for (size_t i = 0; i < filters.size(); ++i) {
      rows.push_back({{"keys", num_keys},
                      {"family", configurations[i].family},
                      {"setting", configurations[i].setting},
                      {"stock", configurations[i].stock},
                      {"bits_per_key", measurements[i].bits_per_key},
                      {"fpr", measurements[i].fpr},
                      {"build_ns", measurements[i].build_ns},
                      {"absent_ns", Median(measurements[i].absent_ns)}});
    }
  }
  progress.Show("");
  return rows;
}

void RunJob(int argc, const char* const* argv) {
  Options options;
  CLI::App app("Space, rate and speed of all filter configurations in one run");
  app.footer(kExitCodes);
  app.add_option("--out", options.out, "where to write the JSON");
  app.add_option("--keys", options.sizes, "numbers of keys")
      ->check(CLI::Range(uint64_t{1000}, uint64_t{100'000'000}));
  app.add_option("--rounds", options.rounds, "repetitions; medians are taken")
      ->check(CLI::Range(1, 1000));
  ParseOrExit(app, argc, argv);
  std::ofstream file(options.out);
  file << Run(options).dump(1) << "\n";
  if (!file.flush()) Fail("cannot write {}", options.out);
}

}  // namespace
}  // namespace blocksieve::bench

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunMain([&] { RunJob(argc, argv); });
}
