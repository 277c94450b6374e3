// SPDX-License-Identifier: Apache-2.0
// levels: wasted reads if the filter memory is distributed over the levels of a tree. See kManual.

#include <algorithm>
#include <cmath>
#include <future>
#include <map>

#include "bench/levels/tree.h"
#include "bench/read_amp/contestants.h"
#include "blocksieve/sizing.h"
#include "integration/rocksdb/compat/version_differences.h"

namespace blocksieve::bench::levels {
namespace {

const JobManual kManual = {
    .benchmark = "levels",
    .description =
        R"(Measures wasted reads: data blocks that RocksDB reads for absent keys. Compares filters with one
false-positive rate on all levels, stock and blocksieve's, with rates chosen by level, in trees made
by real compactions: of size ratio 4 with static and of size ratio 10 with dynamic level sizes,
of large levels alone, and with a last level that has just begun. Prints the optimum of each tree,
the memory that wastes as many reads as stock Bloom, and blocks read as a database grows in a memory
that does not. Prints targets beside the figures. Times are not measured.)",
    .quick_help = "smaller trees, within two minutes",
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

// Fewer bits, with which rates by level waste as many reads as stock Bloom.
constexpr double kCoarseBits[] = {4, 5.5};

// A tree that every contestant fills.
struct Shape {
  const char* name;
  Sizes sizes;
  int flushes;
  bool is_usual = true;          // limits hold for what rates by level save
  double max_of_optimum = 1.05;  // limit for rates by level
};

// Names of contestants.
constexpr const char* kStockBloom = "stock Bloom";
constexpr const char* kStockRibbon = "stock Ribbon";
constexpr const char* kStockMixed = "stock Ribbon, Bloom on level 0";
constexpr const char* kSameRate = "blocksieve ribbon, same rate on all levels";
constexpr const char* kByLevel = "blocksieve ribbon, by level";
constexpr const char* kAutoByLevel = "blocksieve auto, by level";
constexpr const char* kFixedTable = "stock Bloom, fixed bits by level";
constexpr const char* kStockByLevel = "stock Bloom and Ribbon, by level (kind=stock)";

// Bits per key of RocksDB's Ribbon filters over log2(1 / FPR), for settings: sizes are measured.
constexpr double kStockRibbonOverhead = 1.05;

std::string StockRibbon(double bits, int bloom_before_level) {
  const double fpr = std::exp2(-bits / kStockRibbonOverhead);
  return fmt::format("ribbonfilter:{:.3f}:{}", StockBitsPerKey(FilterKind::kStockRibbon, fpr),
                     bloom_before_level);
}

std::string SameRate(double bits) {
  const double fpr = LayoutForBitsPerKey(FilterKind::kRibbon, bits)->predicted_fpr;
  return fmt::format("{{id=blocksieve;target_fpr={};kind=ribbon}}", fpr);
}

std::string ByLevel(double bits, const char* kind) {
  return fmt::format("{{id=blocksieve;bits_per_key={};kind={}}}", bits, kind);
}

// RocksDB's Bloom filters with the bits per key that Pebble has for each level. Levels count from
// the last one, which is level 6 there.
class FixedTable final : public rocksdb::FilterPolicy {
 public:
  explicit FixedTable(int last_level) : last_level_(last_level) {
    for (const int bits : {16, 16, 16, 16, 14, 10, 8}) {
      levels_.emplace_back(rocksdb::NewBloomFilterPolicy(bits));
    }
  }

  const char* Name() const override { return levels_[0]->Name(); }
  const char* CompatibilityName() const override { return levels_[0]->CompatibilityName(); }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    const int last = static_cast<int>(levels_.size()) - 1;
    const int level = std::clamp(context.level_at_creation + last - last_level_, 0, last);
    return levels_[static_cast<size_t>(level)]->GetBuilderWithContext(context);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    return levels_[0]->GetFilterBitsReader(contents);
  }

 private:
  const int last_level_;
  std::vector<std::unique_ptr<const rocksdb::FilterPolicy>> levels_;
};

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
    {kStockByLevel, [](double bits) { return ByLevel(bits, "stock"); }},
};

// Linear interpolation at `x`; beyond the first or last point, extrapolation.
// REQUIRES: at least two points, by ascending x.
double OnLine(const std::vector<std::pair<double, double>>& points, double x) {
  size_t after = 1;
  while (after + 1 < points.size() && points[after].first < x) ++after;
  const auto [x0, y0] = points[after - 1];
  const auto [x1, y1] = points[after];
  return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

// Measures all contestants with all their settings, in trees of one shape.
class Experiment {
 public:
  Experiment(const Shape& shape, const Effort& effort, Job& job)
      : name_(shape.name), shape_(shape), effort_(effort), job_(job) {}

  // Experiments may measure at the same time.
  void Measure() {
    for (const Filters& filters : kContestants) {
      if (!shape_.is_usual && filters.name != kStockBloom && filters.name != kByLevel) continue;
      for (const double bits : effort_.bits) {
        curves_[filters.name][bits] =
            Measure(filters.name, read_amp::PolicyFromString(filters.policy(bits)));
      }
    }
    for (const double bits : kCoarseBits)
      coarse_.push_back(Measure(kByLevel, read_amp::PolicyFromString(ByLevel(bits, "ribbon"))));
    rewritten_ =
        Measure(kByLevel, read_amp::PolicyFromString(ByLevel(kComparedBits, "ribbon")), true);
    if (!shape_.is_usual) return;
    const int last_level = curves_[kStockBloom][kComparedBits].runs.back().level;
    fixed_table_ = Measure(kFixedTable, std::make_shared<FixedTable>(last_level));
  }

  void AddResults() {
    if (shape_.is_usual) AddInSameMemory();
    AddForSameReads();
    Table& table = job_.results.In(
        "Wasted reads by memory: " + name_, "Filters, requested bits per key",
        "Relative to stock filters: at equal memory, interpolated between their settings. Optimum: "
        "the fewest wasted reads of ribbons of the same total size, if every lookup probes all "
        "runs; lookups that skip a partially filled level can beat it. Runs: sorted runs.");
    for (const Filters& filters : kContestants) {
      for (const auto& [requested, measured] : curves_[filters.name]) {
        const bool is_compared = filters.name == kByLevel && requested == kComparedBits;
        AddResult(fmt::format("{}, {:g}", filters.name, requested), measured,
                  is_compared ? shape_.max_of_optimum : 0, table);
      }
    }
    AddResult(fmt::format("{}, {:g}, after RewriteFilters", kByLevel, kComparedBits), rewritten_,
              1.1, table);
  }

 private:
  Measurement Measure(const std::string& filters,
                      std::shared_ptr<const rocksdb::FilterPolicy> policy,
                      bool is_rewritten = false) {
    job_.progress.Show(fmt::format("{}: {}", name_, filters));
    const TempDir dir(job_.db_dir);
    Tree tree(shape_.sizes, std::move(policy), dir.path());
    tree.Flushes(shape_.flushes);
    if (is_rewritten) tree.RewriteFilters();
    return tree.Measure(effort_.lookups);
  }

  // `max_of_optimum`: 0: no limit.
  void AddResult(const std::string& name, const Measurement& measured, double max_of_optimum,
                 Table& table) const {
    const double bits = measured.bits_per_key, reads = measured.wasted_reads;
    auto& row = table[name];
    row.Add("bits per key", "bits", bits)
        .Add("wasted reads", "", reads)
        .Add("relative to stock Bloom", "x", reads / WastedReadsAt(kStockBloom, bits));
    if (shape_.is_usual)
      row.Add("relative to stock Ribbon", "x", reads / WastedReadsAt(kStockRibbon, bits));
    row.Add("optimum", "", measured.optimum())
        .Add("relative to the optimum", "x", reads / measured.optimum(),
             max_of_optimum == 0 ? Target{} : NotAbove(max_of_optimum))
        .Add("runs", "count", measured.runs.size());
  }

  // Wasted reads of a contestant at `bits` bits per key: their logarithm is interpolated.
  double WastedReadsAt(const std::string& name, double bits) const {
    std::vector<std::pair<double, double>> points;
    for (const auto& [requested, measured] : curves_.at(name)) {
      points.emplace_back(measured.bits_per_key, std::log(measured.wasted_reads));
    }
    return std::exp(OnLine(points, bits));
  }

  void AddForSameReads() {
    std::map<double, double> bits_by_reads;  // by their logarithm, which is interpolated
    const auto add = [&](const Measurement& measured) {
      bits_by_reads[std::log(measured.wasted_reads)] = measured.bits_per_key;
    };
    for (const Measurement& measured : coarse_) add(measured);
    for (const auto& [requested, measured] : curves_.at(kByLevel)) add(measured);
    const Measurement& stock = curves_.at(kStockBloom).at(kComparedBits);
    const double bits =
        OnLine({bits_by_reads.begin(), bits_by_reads.end()}, std::log(stock.wasted_reads));
    job_.results.In("Memory that wastes as many reads as stock Bloom 10", "Tree")[name_]
        .Add("wasted reads", "", stock.wasted_reads)
        .Add("stock Bloom, bits per key", "bits", stock.bits_per_key)
        .Add("rates by level, bits per key", "bits", bits)
        .Add("relative", "x", bits / stock.bits_per_key);
  }

  void AddInSameMemory() {
    const double bits = curves_.at(kStockBloom).at(kComparedBits).bits_per_key;
    const double ours = WastedReadsAt(kByLevel, bits);
    const std::pair<const char*, double> limits[] = {{kStockBloom, 1.0 / 20},
                                                     {kStockRibbon, 0.40},
                                                     {kStockMixed, 0.40},
                                                     {kSameRate, 0.50},
                                                     {kByLevel, 1}};
    Table& table = job_.results.In("Wasted reads in the memory of stock Bloom 10", "Filters");
    for (const auto& [name, limit] : limits) {
      const double reads = WastedReadsAt(name, bits);
      table[fmt::format("{}: {}", name_, name)]
          .Add("wasted reads", "", reads)
          .Add("those of rates by level, relative", "x", ours / reads,
               name == kByLevel ? Target{} : NotAbove(limit));
    }
    const double stock_by_level = WastedReadsAt(kStockByLevel, bits);
    table[fmt::format("{}: {}", name_, kStockByLevel)]
        .Add("wasted reads", "", stock_by_level)
        .Add("relative to stock Ribbon", "x", stock_by_level / WastedReadsAt(kStockRibbon, bits),
             NotAbove(0.45))
        .Add("relative to rates by level", "x", stock_by_level / ours, NotAbove(1.4));
    const double bits_of_table = fixed_table_.bits_per_key;
    job_.results.In("Fixed bits by level, and rates by level in the same memory", "Tree")[name_]
        .Add("bits per key", "bits", bits_of_table)
        .Add("wasted reads, fixed bits", "", fixed_table_.wasted_reads)
        .Add("wasted reads, by level", "", WastedReadsAt(kByLevel, bits_of_table))
        .Add("relative", "x", WastedReadsAt(kByLevel, bits_of_table) / fixed_table_.wasted_reads);
    if (!job_.results.headline.empty()) return;
    const double stock = WastedReadsAt(kStockBloom, bits);
    job_.results.headline = fmt::format(
        "{:.3g} times fewer wasted reads than with stock Bloom, in the same memory: {:.3g} data "
        "blocks per lookup of an absent key with stock Bloom of 10 bits per key, {:.3g} with rates "
        "by level; {}.",
        stock / ours, stock, ours, name_);
  }

  const std::string name_;
  const Shape shape_;
  const Effort& effort_;
  Job& job_;
  std::map<std::string, std::map<double, Measurement>> curves_;  // by contestant and requested bits
  std::vector<Measurement> coarse_;                              // of kByLevel, with kCoarseBits
  Measurement rewritten_;                                        // of kByLevel, with kComparedBits
  Measurement fixed_table_;
};

// Measures blocks read per lookup as a database grows, with a block cache and filters that have the
// same memory all the time.
void MeasureGrowth(int flushes, uint64_t keys_per_flush, uint64_t lookups, Job& job) {
  // Filters of 10 bits per key fill the memory when the database has half of its keys.
  constexpr double kMemoryBits = 5;
  constexpr int kDoublings = 4;
  const double keys = static_cast<double>(flushes) * static_cast<double>(keys_per_flush);
  const auto memory = static_cast<uint64_t>(keys * kMemoryBits / 8);
  const struct {
    const char* name;
    std::string policy;
    bool in_cache = false;  // filters share the block cache with data; else they are outside
  } contestants[] = {
      {"stock Bloom, 10 bits, in the block cache", "bloomfilter:10:false", true},
      {"stock Ribbon, 10 bits, outside", "ribbonfilter:10:-1"},
      {"blocksieve, 10 bits by level", "{id=blocksieve;bits_per_key=10}"},
      {"blocksieve, filter_memory", fmt::format("{{id=blocksieve;filter_memory={}}}", memory)},
  };
  Table& table = job.results.In(
      "Growth in a memory that does not grow", "Filters",
      fmt::format("Blocks read per lookup of an absent key, of data and filters. A block cache and "
                  "all filters together have {} bytes, filters outside of the cache as much as "
                  "they take.",
                  memory));
  for (const auto& filters : contestants) {
    const TempDir dir(job.db_dir);
    job.progress.Show(fmt::format("growth: {}", filters.name));
    const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(memory, 0);
    Tree tree({10, true, keys_per_flush}, read_amp::PolicyFromString(filters.policy), dir.path(),
              [&](rocksdb::Options& options) {
                TableOptions(options).block_cache = cache;
                TableOptions(options).cache_index_and_filter_blocks = filters.in_cache;
              });
    int flushed = 0;
    for (int left = kDoublings; left >= 0; --left) {
      const int until = flushes >> left;
      tree.Flushes(until - flushed);
      flushed = until;
      const TreeShape shape = tree.Shape();
      cache->SetCapacity(filters.in_cache ? memory + shape.index_bytes
                                          : memory - std::min(memory, shape.filter_bytes));
      tree.Measure(lookups / 4);  // fills the cache
      const std::string column = fmt::format("{} k keys", until * keys_per_flush / 1000);
      table[filters.name].Add(column, "", tree.Measure(lookups).blocks_read);
      table[fmt::format("{}: size of filters", filters.name)].Add(column, "bytes",
                                                                  shape.filter_bytes);
    }
  }
}

// Fills a tree per contestant and setting, in all shapes, and counts its wasted reads.
void Measure(Job& job) {
  const Effort quick{
      .flushes = 86, .keys_per_flush = 4'000, .lookups = 200'000, .bits = {8, kComparedBits}};
  const Effort effort = job.options.quick ? quick : Effort{};
  job.results.title = "False-positive rates by level";
  job.results.lead = fmt::format(
      "Wasted reads: data blocks read per lookup of an absent key, over {} lookups. Trees of up to "
      "{} keys, written in random order, with real compactions. Stock: RocksDB's own filters. By "
      "level: blocksieve chooses the false-positive rate of each level for the fewest wasted "
      "reads.",
      effort.lookups, static_cast<uint64_t>(effort.flushes) * effort.keys_per_flush);
  const uint64_t keys = effort.keys_per_flush;
  // Levels as large as four flushes, with two more flushes on level 0; the last has eight of 94.
  const Shape shapes[] = {
      {"size ratio 4, static levels", {4, false, keys}, effort.flushes},
      {"size ratio 10, dynamic levels", {10, true, keys}, effort.flushes},
      {"two large levels", {1, false, keys}, 10, false, 1.1},
      {"three large levels", {1, false, keys}, 14, false, 1.1},
      {"a last level that has just begun", {4, false, keys}, 94, false, 0},
  };
  std::vector<Experiment> experiments;
  for (const Shape& shape : shapes) experiments.emplace_back(shape, effort, job);
  // At the same time, since only blocks are counted. While a tree waits for its flushes and
  // compactions, another one uses the processor.
  std::future<void> others = std::async(std::launch::async, [&] {
    for (size_t i = 1; i < experiments.size(); ++i) experiments[i].Measure();
  });
  experiments[0].Measure();
  others.get();
  for (Experiment& experiment : experiments) experiment.AddResults();
  MeasureGrowth(effort.flushes, keys, effort.lookups, job);
}

}  // namespace
}  // namespace blocksieve::bench::levels

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunJob(levels::kManual, argc, argv, levels::Measure);
}
