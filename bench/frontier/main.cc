#include <fmt/format.h>
#include <rocksdb/filter_policy.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "bench/filter_bench/contestants.h"
#include "bench/filter_bench/keys.h"
#include "bench/support/job.h"
#include "bench/support/measure.h"
#include "blocksieve/rocksdb/filter_policy.h"

// Size, FPR and speed of every stock configuration, and of blocksieve's filters at the same FPR, in
// one run: the frontier between bits per key, FPR and probe time.

namespace blocksieve::bench {
namespace {

const JobManual kManual = {
    .name = "bench/run frontier",
    .description = "Size, false-positive rate and speed of all filter configurations in one run",
    .quick_help = "three rounds",
    .files = "frontier.json and plots",
};

constexpr uint64_t kNumbersOfKeys[] = {10'000, 1'000'000};

// A filter configuration and its measurements.
struct Configuration {
  std::string family;
  std::string setting;
  std::string stock;  // the stock configuration whose FPR it targets; empty for a stock one
  std::shared_ptr<const rocksdb::FilterPolicy> policy;

  BuiltFilter filter = {};
  double bits_per_key = 0;
  double fpr = 0;
  std::vector<double> build_ns = {};  // by round, as are
  std::vector<double> absent_ns = {};
};

constexpr double kStockBits[] = {5, 8, 10, 12, 16, 20};
constexpr uint64_t kProbesPerRound = 1 << 18;

// Our target as a share of the stock filter's measured FPR, so that ours is not higher by chance.
constexpr double kMargin = 0.98;

double TimeAbsent(const BuiltFilter& filter) {
  static uint64_t next = kFirstAbsent;
  uint64_t positives = 0;
  const Stopwatch stopwatch;
  for (uint64_t i = 0; i < kProbesPerRound; ++i) {
    const Key16 key(next + i);
    positives += filter.reader->MayMatch({key.view().data(), key.view().size()});
  }
  const double elapsed = 1e9 * stopwatch.Seconds();
  next += kProbesPerRound + (positives & 1);  // the compiler may not drop the probes
  return elapsed / static_cast<double>(kProbesPerRound);
}

// Enough probes for a standard error of the FPR of 0.5 %, at the lowest FPRs 0.6 %, below kMargin.
uint64_t FprProbes(double expected_fpr) {
  return static_cast<uint64_t>(std::clamp(40'000 / expected_fpr, 1e6, 1.6e8));
}

std::vector<Configuration> StockConfigurations() {
  std::vector<Configuration> configurations;
  const auto add = [&](const char* family, double bits, const rocksdb::FilterPolicy* policy) {
    configurations.push_back({family, fmt::format("{:g}", bits), "",
                              std::shared_ptr<const rocksdb::FilterPolicy>(policy)});
  };
  for (const double bits : kStockBits) {
    add("stock Bloom", bits, rocksdb::NewBloomFilterPolicy(bits));
    add("stock Ribbon", bits, rocksdb::NewRibbonFilterPolicy(bits, -1));
  }
  return configurations;
}

Configuration Ours(PolicyKind kind, const char* family, const Configuration& stock) {
  FilterPolicyOptions options;
  options.kind = kind;
  options.target_fpr = kMargin * stock.fpr;
  return {family, fmt::format("{:.6f}", *options.target_fpr), stock.family + " " + stock.setting,
          *NewFilterPolicy(options)};
}

void BuildAndCount(Configuration& configuration, uint64_t num_keys, double expected_fpr) {
  configuration.filter = Build({configuration.family, configuration.policy}, num_keys);
  configuration.bits_per_key = 8.0 * static_cast<double>(configuration.filter.contents.size()) /
                               static_cast<double>(num_keys);
  configuration.fpr = MeasureFpr(configuration.filter, FprProbes(expected_fpr));
}

double TimeBuilding(const Configuration& configuration, uint64_t num_keys) {
  const Stopwatch stopwatch;
  const BuiltFilter filter = Build({configuration.family, configuration.policy}, num_keys);
  return 1e9 * stopwatch.Seconds() / static_cast<double>(num_keys);
}

std::vector<Configuration> Measure(uint64_t num_keys, uint64_t num_rounds, Progress& progress) {
  std::vector<Configuration> all = StockConfigurations();
  const size_t num_stock = all.size();
  for (Configuration& stock : all) {
    BuildAndCount(stock, num_keys, std::exp2(-0.65 * std::stod(stock.setting)));
  }
  for (size_t i = 0; i < num_stock; ++i) {
    all.push_back(Ours(PolicyKind::kBloom, "blocksieve bloom", all[i]));
    all.push_back(Ours(PolicyKind::kRibbon, "blocksieve ribbon", all[i]));
  }
  for (size_t i = num_stock; i < all.size(); ++i) {
    BuildAndCount(all[i], num_keys, std::stod(all[i].setting));
  }
  for (uint64_t round = 1; round <= num_rounds; ++round) {
    progress.Show(fmt::format("{} keys, round {} of {}", num_keys, round, num_rounds));
    for (Configuration& each : all) {
      CheckInterrupt();
      each.build_ns.push_back(TimeBuilding(each, num_keys));
      each.absent_ns.push_back(TimeAbsent(each.filter));
    }
  }
  return all;
}

// Lower or equal FPR, smaller, and faster by more than the noise.
bool Beats(const Configuration& ours, const Configuration& stock) {
  return ours.fpr <= stock.fpr && ours.bits_per_key < stock.bits_per_key &&
         PairedRatio(stock.absent_ns, ours.absent_ns).low > 1;
}

// The smallest of our configurations that beats `stock`; null if none does.
const Configuration* WinnerOver(const Configuration& stock, const std::vector<Configuration>& all) {
  const Configuration* winner = nullptr;
  for (const Configuration& each : all) {
    const bool is_smaller = winner == nullptr || each.bits_per_key < winner->bits_per_key;
    if (!each.stock.empty() && Beats(each, stock) && is_smaller) winner = &each;
  }
  return winner;
}

// Adds the columns of one side of the table that compares stock with blocksieve.
void AddSide(const Configuration& each, const std::string& side, Results::Rows rows) {
  const double limit = -std::log2(each.fpr);
  rows.Add(side + ": FPR", "share", each.fpr)
      .Add(side + ": bits per key", "bits", each.bits_per_key)
      .Add(side + ": above the lower bound", "share", each.bits_per_key / limit - 1)
      .AddTurns(side + ": absent key", "ns", each.absent_ns)
      .AddTurns(side + ": build per key", "ns", each.build_ns);
}

// Returns how many stock configurations are beaten.
size_t AddRows(const std::vector<Configuration>& all, uint64_t num_keys, Results& results) {
  size_t num_beaten = 0;
  for (const Configuration& each : all) {
    const bool is_stock = each.stock.empty();
    const std::string setting = is_stock ? each.setting : "for " + each.stock;
    results.Of(each.family, {{"setting", setting}, {"keys", num_keys}})
        .Add("FPR", "share", each.fpr)
        .Add("bits per key", "bits", each.bits_per_key)
        .AddTurns("absent key", "ns", each.absent_ns);
    results.Of("limit", {{"setting", each.family + " " + setting}, {"keys", num_keys}})
        .Add("FPR", "share", each.fpr)
        .Add("bits per key", "bits", -std::log2(each.fpr));
    if (!is_stock) continue;
    const Configuration* const winner = WinnerOver(each, all);
    const std::string beaten_by = winner == nullptr ? "not beaten" : winner->family;
    const Results::Rows rows = results.Of(
        fmt::format("{} {} → {}", each.family, each.setting, beaten_by), {{"keys", num_keys}});
    AddSide(each, "stock", rows);
    if (winner == nullptr) continue;
    AddSide(*winner, "blocksieve", rows);
    ++num_beaten;
  }
  return num_beaten;
}

int Main(int argc, const char* const* argv) {
  return RunJob("frontier", kManual, argc, argv, [&](Job& job) {
    const uint64_t rounds = job.options.quick ? 3 : 9;
    size_t num_beaten = 0;
    for (const uint64_t num_keys : kNumbersOfKeys) {
      num_beaten += AddRows(Measure(num_keys, rounds, job.progress), num_keys, job.results);
    }
    const size_t num_stock = 2 * std::size(kStockBits) * std::size(kNumbersOfKeys);
    job.results.Of("stock configurations")
        .Add("compared", "count", static_cast<double>(num_stock))
        .Add("beaten", "count", static_cast<double>(num_beaten))
        .Add("not beaten", "count", static_cast<double>(num_stock - num_beaten));
  });
}

}  // namespace
}  // namespace blocksieve::bench

int main(int argc, char** argv) { return blocksieve::bench::Main(argc, argv); }
