// levels: wasted reads if the filter memory is distributed over the levels of a tree. See kManual.

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <future>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/levels/tree.h"
#include "bench/read_amp/contestants.h"
#include "bench/support/files.h"
#include "bench/support/job.h"
#include "blocksieve/sizing.h"

namespace blocksieve::bench::levels {
namespace {

const JobManual kManual = {
    .benchmark = "levels",
    .description =
        R"(Measures wasted reads: data blocks that RocksDB reads for absent keys. Compares filters with one
false-positive rate on all levels, stock and blocksieve's, with rates chosen by level, in trees made
by real compactions: of size ratio 4 with static and of size ratio 10 with dynamic level sizes.
Prints targets beside the figures. Times are not measured.)",
    .quick_help = "smaller trees, within a minute",
};

// Bits per key of the stock Bloom filter that everything is compared with: RocksDB's usual setting.
constexpr double kComparedBits = 10;

// 4 + 16 + 64 + 256 flushes fill four levels of size ratio 4: a partially filled last level would
// not have that ratio. Two more flushes stay on level 0.
struct Effort {
  int flushes = 342;
  uint64_t keys_per_flush = 14'620;
  uint64_t lookups = 3'000'000;
  std::vector<double> bits = {7, kComparedBits, 13};
};

constexpr int kFlushesAfterReopening = 30;

// Names of contestants.
constexpr const char* kStockBloom = "stock Bloom";
constexpr const char* kStockRibbon = "stock Ribbon";
constexpr const char* kStockMixed = "stock Ribbon, Bloom on level 0";
constexpr const char* kSameRate = "blocksieve ribbon, same rate on all levels";
constexpr const char* kByLevel = "blocksieve ribbon, by level";
constexpr const char* kAutoByLevel = "blocksieve auto, by level";

// Bits per key of RocksDB's Ribbon filters over log2(1 / FPR), for settings: sizes are measured.
constexpr double kStockRibbonOverhead = 1.05;

std::string StockRibbon(double bits, int bloom_before_level) {
  const double fpr = std::exp2(-bits / kStockRibbonOverhead);
  return fmt::format("ribbonfilter:{:.3f}:{}", read_amp::StockRibbonBitsPerKey(fpr),
                     bloom_before_level);
}

std::string SameRate(double bits) {
  const double fpr = LayoutForBitsPerKey(FilterKind::kRibbon, bits)->predicted_fpr;
  return fmt::format("{{id=blocksieve;target_fpr={};kind=ribbon}}", fpr);
}

std::string ByLevel(double bits, const char* kind) {
  return fmt::format("{{id=blocksieve;bits_per_key={};kind={}}}", bits, kind);
}

struct Filters {
  std::string name;
  std::function<std::string(double bits)> policy;  // of about this many bits per key
};

const std::vector<Filters> kContestants = {
    {kStockBloom, [](double bits) { return fmt::format("bloomfilter:{}:false", bits); }},
    {kStockRibbon, [](double bits) { return StockRibbon(bits, -1); }},
    {kStockMixed, [](double bits) { return StockRibbon(bits, 1); }},
    {kSameRate, SameRate},
    {kByLevel, [](double bits) { return ByLevel(bits, "ribbon"); }},
    {kAutoByLevel, [](double bits) { return ByLevel(bits, "auto"); }},
};

// Linear interpolation at `x`; beyond the first or last point, extrapolation.
// REQUIRES: at least two points, by ascending or descending x.
double OnLine(const std::vector<std::pair<double, double>>& points, double x) {
  const bool ascends = points.front().first < points.back().first;
  size_t after = 1;
  while (after + 1 < points.size() && (points[after].first < x) == ascends) ++after;
  const auto [x0, y0] = points[after - 1];
  const auto [x1, y1] = points[after];
  return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

// Measures all contestants with all their settings, in trees of one shape.
class Experiment {
 public:
  Experiment(std::string name, Sizes sizes, const Effort& effort, Job& job)
      : name_(std::move(name)), sizes_(sizes), effort_(effort), job_(job) {}

  // Experiments may measure at the same time.
  void Measure() {
    for (const Filters& filters : kContestants) {
      for (const double bits : effort_.bits) {
        const bool is_reopened = filters.name == kByLevel && bits == kComparedBits;
        curves_[filters.name][bits] =
            MeasureTree(fmt::format("{}, {} bits", filters.name, bits), filters.policy(bits),
                        is_reopened ? &after_reopening_ : nullptr);
      }
    }
    const double stock_reads = Compared(kStockBloom).wasted_reads;
    same_reads_ =
        MeasureTree("goal: wasted reads",
                    fmt::format("{{id=blocksieve;wasted_reads={:.6f};kind=ribbon}}", stock_reads));
  }

  void AddResults() {
    AddPoints();
    for (const char* const name : {kStockBloom, kByLevel, kAutoByLevel}) AddRuns(name);
    AddRatios();
  }

 private:
  // With `after_reopening`, measures again after the tree was closed, opened and written to.
  Measurement MeasureTree(const std::string& what, const std::string& policy,
                          Measurement* after_reopening = nullptr) {
    job_.progress.Show(fmt::format("{}: {}", name_, what));
    const TempDir dir(job_.db_dir);
    Tree tree(sizes_, policy, dir.path());
    tree.Flushes(effort_.flushes);
    Measurement measured = tree.Measure(effort_.lookups);
    if (after_reopening != nullptr) {
      tree.Open(Reads::kCached);
      tree.Flushes(kFlushesAfterReopening);
      *after_reopening = tree.Measure(effort_.lookups);
    }
    return measured;
  }

  const Measurement& Compared(const char* name) const { return curves_.at(name).at(kComparedBits); }

  // Wasted reads of a contestant at `bits` bits per key: their logarithm is interpolated.
  double WastedReadsAt(const char* name, double bits) const {
    std::vector<std::pair<double, double>> points;
    for (const auto& [requested, measured] : curves_.at(name)) {
      points.emplace_back(measured.bits_per_key, std::log(measured.wasted_reads));
    }
    return std::exp(OnLine(points, bits));
  }

  double BitsAt(const char* name, double wasted_reads) const {
    std::vector<std::pair<double, double>> points;
    for (const auto& [requested, measured] : curves_.at(name)) {
      points.emplace_back(std::log(measured.wasted_reads), measured.bits_per_key);
    }
    return OnLine(points, std::log(wasted_reads));
  }

  void AddPoints() {
    for (const Filters& filters : kContestants) {
      for (const auto& [bits, measured] : curves_[filters.name]) {
        AddPoint(filters.name, {{"bits", bits}}, measured);
      }
    }
    AddPoint("by level, after reopening and more flushes", {}, after_reopening_);
    AddPoint("by level, for stock Bloom 10's wasted reads", {}, same_reads_);
  }

  void AddPoint(const std::string& name, Json parameters, const Measurement& measured) {
    const double bits = measured.bits_per_key;
    const double reads = measured.wasted_reads;
    parameters["tree"] = name_;
    parameters["filter bits per key"] = bits;
    job_.results.Of(name, std::move(parameters))
        .Add("bits per key", "bits", bits)
        .Add("wasted reads", "", reads)
        .Add("relative to stock Bloom", "x", reads / WastedReadsAt(kStockBloom, bits))
        .Add("relative to stock Ribbon", "x", reads / WastedReadsAt(kStockRibbon, bits))
        .Add("relative to the optimum", "x", reads / measured.optimum())
        .Add("runs", "count", measured.runs.size());
  }

  // The filter memory of each run. Compactions depend on file sizes, including filters, so not
  // every tree has every level.
  void AddRuns(const std::string& name) {
    int place = 0;
    for (const levels::Run& run : Compared(name.c_str()).runs) {
      const std::string where = run.level == 0 ? fmt::format("level 0, run {}", ++place)
                                               : fmt::format("level {}", run.level);
      job_.results.Of(where, {{"tree", name_}, {"level", run.level}})
          .Add(name + ": keys", "count", run.keys)
          .Add(name + ": bits per key", "bits", run.bits_per_key());
    }
  }

  // Compares rates by level with the other contestants at the same memory.
  void AddRatios() {
    const Measurement& bloom = Compared(kStockBloom);
    const Measurement& by_level = Compared(kByLevel);
    const double bits = bloom.bits_per_key;
    const double reads = WastedReadsAt(kByLevel, bits);
    const auto add = [&](const std::string& what, double ratio) {
      job_.results.Of(what, {{"tree", name_}}).Add("ratio", "x", ratio);
    };
    add("wasted reads at stock Bloom 10's memory, relative to stock Bloom 10",
        reads / bloom.wasted_reads);
    for (const char* const other : {kStockRibbon, kStockMixed, kSameRate}) {
      add(fmt::format("wasted reads at stock Bloom 10's memory, relative to {}", other),
          reads / WastedReadsAt(other, bits));
    }
    add("wasted reads, relative to the optimum", by_level.wasted_reads / by_level.optimum());
    add("wasted reads after reopening and more flushes, relative to the optimum",
        after_reopening_.wasted_reads / after_reopening_.optimum());
    add("memory at stock Bloom 10's wasted reads, relative to stock Bloom 10",
        BitsAt(kByLevel, bloom.wasted_reads) / bits);
    job_.results.Of("stock Bloom 10's memory", {{"tree", name_}})
        .Add("reads with stock Bloom", "", bloom.wasted_reads)
        .Add("reads by level", "", reads)
        .Add("times fewer", "x", bloom.wasted_reads / reads);
  }

  const std::string name_;
  const Sizes sizes_;
  const Effort& effort_;
  Job& job_;
  std::map<std::string, std::map<double, Measurement>> curves_;  // by contestant and requested bits
  Measurement after_reopening_;  // by level: the same tree after reopening and more flushes
  Measurement same_reads_;       // by level, with the wasted reads of stock Bloom as its goal
};

// Fills a tree per contestant and setting, in two shapes, and counts its wasted reads.
void Measure(Job& job) {
  const Effort quick{
      .flushes = 86, .keys_per_flush = 4'000, .lookups = 200'000, .bits = {8, kComparedBits}};
  const Effort effort = job.options.quick ? quick : Effort{};
  job.results.SetFact("keys", static_cast<uint64_t>(effort.flushes) * effort.keys_per_flush);
  job.results.SetFact("lookups", effort.lookups);
  job.results.SetFact("flushes_after_reopening", kFlushesAfterReopening);
  const uint64_t keys = effort.keys_per_flush;
  Experiment first("size ratio 4, static levels", {4, false, keys}, effort, job);
  Experiment second("size ratio 10, dynamic levels", {10, true, keys}, effort, job);
  // At the same time, since only blocks are counted. While a tree waits for its flushes and
  // compactions, the other one uses the processor.
  std::future<void> other = std::async(std::launch::async, [&] { second.Measure(); });
  first.Measure();
  other.get();
  first.AddResults();
  second.AddResults();
}

}  // namespace
}  // namespace blocksieve::bench::levels

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunJob(levels::kManual, argc, argv, levels::Measure);
}
