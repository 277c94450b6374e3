// levels: what filters let through if memory is spread over the levels of a tree. See kManual.

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "bench/levels/results.h"
#include "bench/levels/tree.h"
#include "bench/read_amp/contestants.h"
#include "bench/support/job.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "blocksieve/sizing.h"

namespace blocksieve::bench::levels {
namespace {

const JobManual kManual = {
    .name = "bench/run levels",
    .description =
        R"(Measures the data blocks that RocksDB reads in vain for absent keys, with filters of the same
rate on all levels, stock and blocksieve's, and with rates by level, in trees made by real
compactions: of size ratio 4 with static and of size ratio 10 with dynamic level sizes. Prints the
targets beside each figure. No times are measured.)",
    .quick_help = "small trees, within two minutes",
    .files = "levels.json and plots",
};

// Flushes: two more than a multiple of four, so that two files stay on level 0. And 4 + 16 + 64 +
// 256 of them fill four levels of size ratio 4, of which the first holds four flushes: a tree
// whose last level has just begun has no ratio of 4 there.
struct Effort {
  int flushes = 342;
  uint64_t keys_per_flush = 14'620;
  uint64_t lookups = 3'000'000;
  std::vector<double> bits = {7, kComparedBits, 13};
};

constexpr int kFlushesAfterReopening = 30;

struct Contestant {
  std::string name;
  std::function<std::string(double bits)> policy;  // with about so many bits per key
};

// Bits per key by log2(1 / FPR) of RocksDB's Ribbon filters. Only to choose settings: what they
// take is counted.
constexpr double kStockRibbonOverhead = 1.05;

std::string StockRibbon(double bits, int bloom_before_level) {
  const double fpr = std::exp2(-bits / kStockRibbonOverhead);
  return fmt::format("ribbonfilter:{:.3f}:{}", read_amp::StockRibbonBitsPerKey(fpr),
                     bloom_before_level);
}

std::vector<Contestant> MakeContestants() {
  return {
      {kStockBloom, [](double bits) { return fmt::format("bloomfilter:{}:false", bits); }},
      {kStockRibbon, [](double bits) { return StockRibbon(bits, -1); }},
      {kStockMixed, [](double bits) { return StockRibbon(bits, 1); }},
      {kSameRate,
       [](double bits) {
         const double fpr = LayoutForBitsPerKey(FilterKind::kRibbon, bits)->predicted_fpr;
         return fmt::format("{{id=blocksieve;target_fpr={};kind=ribbon}}", fpr);
       }},
      {kByLevel,
       [](double bits) {
         return fmt::format("{{id=blocksieve;bits_per_key={};kind=ribbon}}", bits);
       }},
      {kAutoByLevel,
       [](double bits) {
         return fmt::format("{{id=blocksieve;bits_per_key={};kind=auto}}", bits);
       }},
  };
}

class Experiment {
 public:
  Experiment(const Effort& effort, Progress& progress) : effort_(effort), progress_(progress) {}

  TreeResults Run(std::string name, double size_ratio, bool has_dynamic_levels) {
    TreeResults results;
    results.name = std::move(name);
    double stock_reads = 0;
    shape_ = {size_ratio, has_dynamic_levels, effort_.keys_per_flush};
    for (const Contestant& contestant : MakeContestants()) {
      Curve curve{contestant.name, {}};
      for (const double bits : effort_.bits) {
        progress_.Show(fmt::format("{}: {}, {} bits", results.name, contestant.name, bits));
        Point point{bits, {}};
        const bool is_reopened = contestant.name == kByLevel && bits == kComparedBits;
        point.measured = Measure(contestant.policy(bits), is_reopened ? &results : nullptr);
        if (contestant.name == kStockBloom && bits == kComparedBits) {
          stock_reads = point.measured.wasted_reads();
        }
        curve.points.push_back(std::move(point));
      }
      results.contestants.push_back(std::move(curve));
    }
    progress_.Show(fmt::format("{}: asked for wasted reads", results.name));
    results.asked_for_reads = Measure(
        fmt::format("{{id=blocksieve;wasted_reads={:.6f};kind=ribbon}}", stock_reads), nullptr);
    return results;
  }

 private:
  // Also after it was closed, opened and written to, if that is to go into results.
  Measurement Measure(const std::string& policy, TreeResults* reopened) {
    Tree tree(shape_, policy);
    tree.Flushes(effort_.flushes);
    Measurement measured = tree.Measure(effort_.lookups);
    if (reopened != nullptr) {
      tree.Reopen();
      tree.Flushes(kFlushesAfterReopening);
      reopened->after_reopening = tree.Measure(effort_.lookups);
    }
    return measured;
  }

  const Effort& effort_;
  Progress& progress_;
  TreeShape shape_;
};

// Fills a tree per contestant and setting, in two shapes, and counts what absent keys read. Throws
// Failure and Interrupted.
Results RunExperiment(const Effort& effort, Progress& progress) {
  const Stopwatch watch;
  Results results("levels");
  results.SetFact("keys", static_cast<uint64_t>(effort.flushes) * effort.keys_per_flush);
  results.SetFact("lookups", effort.lookups);
  results.SetFact("flushes_after_reopening", kFlushesAfterReopening);
  Experiment experiment(effort, progress);
  AddRows(experiment.Run("size ratio 4, static levels", 4, false), results);
  AddRows(experiment.Run("size ratio 10, dynamic levels", 10, true), results);
  results.SetFact("seconds", watch.Seconds());
  return results;
}

void RunJob(const JobOptions& options) {
  PrepareOutput(options);
  const Effort quick{
      .flushes = 86, .keys_per_flush = 4'000, .lookups = 300'000, .bits = {8, kComparedBits, 12}};
  Progress progress;
  RunExperiment(options.quick ? quick : Effort{}, progress).Write(options.out);
}

}  // namespace
}  // namespace blocksieve::bench::levels

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunMain([&] { levels::RunJob(ParseJobOptions(levels::kManual, argc, argv)); });
}
