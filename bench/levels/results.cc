#include "bench/levels/results.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "bench/support/terminal.h"
#include "blocksieve/rate_allocation.h"

namespace blocksieve::bench::levels {

uint64_t Measurement::keys() const {
  uint64_t sum = 0;
  for (const Run& run : runs) sum += run.keys;
  return sum;
}

uint64_t Measurement::filter_bytes() const {
  uint64_t sum = 0;
  for (const Run& run : runs) sum += run.filter_bytes;
  return sum;
}

double Measurement::bits_per_key() const {
  return 8 * static_cast<double>(filter_bytes()) / static_cast<double>(keys());
}

double Measurement::wasted_reads() const {
  return static_cast<double>(wasted_data_blocks) / static_cast<double>(lookups);
}

double Measurement::optimum() const {
  std::vector<RunGroup> groups;
  for (const Run& run : runs) groups.push_back({.keys_per_run = static_cast<double>(run.keys)});
  const Result<RateAllocation> allocation = AllocateRates(groups, {.bits_per_key = bits_per_key()});
  if (!allocation.ok()) Fail("no optimum: {}", allocation.status().message());
  return allocation->wasted_reads;
}

namespace {

const Curve& CurveOf(const TreeResults& tree, const char* name) {
  for (const Curve& curve : tree.contestants) {
    if (curve.name == name) return curve;
  }
  Fail("{} has no {}", tree.name, name);
}

const Measurement& AtComparedBits(const TreeResults& tree, const char* name) {
  for (const Point& point : CurveOf(tree, name).points) {
    if (point.asked_bits == kComparedBits) return point.measured;
  }
  Fail("{} has no {} of {} bits", tree.name, name, kComparedBits);
}

// Y at `x`, on the line through the two neighbouring points around it, or the two at that end.
// REQUIRES: points by ascending or descending x, two at least.
double OnLine(const std::vector<std::pair<double, double>>& points, double x) {
  const bool ascends = points.front().first < points.back().first;
  size_t after = 1;
  while (after + 1 < points.size() && (points[after].first < x) == ascends) ++after;
  const auto [x0, y0] = points[after - 1];
  const auto [x1, y1] = points[after];
  return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

// Wasted reads of a contestant at a number of bits per key, interpolated by their logarithm.
double WastedReadsAt(const TreeResults& tree, const char* name, double bits) {
  std::vector<std::pair<double, double>> points;
  for (const Point& point : CurveOf(tree, name).points) {
    points.emplace_back(point.measured.bits_per_key(), std::log(point.measured.wasted_reads()));
  }
  return std::exp(OnLine(points, bits));
}

double BitsAt(const TreeResults& tree, const char* name, double wasted_reads) {
  std::vector<std::pair<double, double>> points;
  for (const Point& point : CurveOf(tree, name).points) {
    points.emplace_back(std::log(point.measured.wasted_reads()), point.measured.bits_per_key());
  }
  return OnLine(points, std::log(wasted_reads));
}

void AddPoint(const TreeResults& tree, const std::string& name, Json parameters,
              const Measurement& measured, Results& results) {
  const double bits = measured.bits_per_key();
  const double reads = measured.wasted_reads();
  parameters["tree"] = tree.name;
  results.Of(name, std::move(parameters))
      .Add("bits per key", "bits", bits)
      .Add("wasted reads", "", reads)
      .Add("of stock Bloom's", "x", reads / WastedReadsAt(tree, kStockBloom, bits))
      .Add("of stock Ribbon's", "x", reads / WastedReadsAt(tree, kStockRibbon, bits))
      .Add("of the least", "x", reads / measured.optimum())
      .Add("runs", "count", static_cast<double>(measured.runs.size()));
}

// Where the memory goes. Compactions depend on the sizes of files, filters included, so not every
// tree has every level.
void AddRuns(const TreeResults& tree, const char* name, Results& results) {
  int place = 0;
  for (const Run& run : AtComparedBits(tree, name).runs) {
    const std::string where = run.level == 0 ? fmt::format("level 0, run {}", ++place)
                                             : fmt::format("level {}", run.level);
    const std::string whose(name);
    results.Of(where, {{"tree", tree.name}, {"level", run.level}})
        .Add(whose + ": keys", "count", static_cast<double>(run.keys))
        .Add(whose + ": bits per key", "bits",
             8 * static_cast<double>(run.filter_bytes) / static_cast<double>(run.keys));
  }
}

// What rates by level save, against the others in the same memory.
void AddRatios(const TreeResults& tree, Results& results) {
  const Measurement& bloom = AtComparedBits(tree, kStockBloom);
  const Measurement& by_level = AtComparedBits(tree, kByLevel);
  const double bits = bloom.bits_per_key();
  const double reads = WastedReadsAt(tree, kByLevel, bits);
  const auto add = [&](const std::string& what, double ratio) {
    results.Of(what, {{"tree", tree.name}}).Add("ratio", "x", ratio);
  };
  add("wasted reads, same bytes as stock Bloom 10", reads / bloom.wasted_reads());
  for (const char* const other : {kStockRibbon, kStockMixed, kSameRate}) {
    add(fmt::format("the same against {}", other), reads / WastedReadsAt(tree, other, bits));
  }
  add("against the least for the actual sizes", by_level.wasted_reads() / by_level.optimum());
  add("the same, reopened, some flushes later",
      tree.after_reopening.wasted_reads() / tree.after_reopening.optimum());
  add("memory for stock Bloom 10's wasted reads",
      BitsAt(tree, kByLevel, bloom.wasted_reads()) / bits);
  results.Of("stock Bloom 10's bytes", {{"tree", tree.name}})
      .Add("reads with stock Bloom", "", bloom.wasted_reads())
      .Add("reads by level", "", reads)
      .Add("times fewer", "x", bloom.wasted_reads() / reads);
}

}  // namespace

void AddRows(const TreeResults& tree, Results& results) {
  for (const Curve& curve : tree.contestants) {
    for (const Point& point : curve.points) {
      AddPoint(tree, curve.name, {{"asked", point.asked_bits}}, point.measured, results);
    }
  }
  AddPoint(tree, "by level, reopened, some flushes later", {}, tree.after_reopening, results);
  AddPoint(tree, "by level, asked for stock Bloom 10's reads", {}, tree.asked_for_reads, results);
  for (const char* const name : {kStockBloom, kByLevel, kAutoByLevel}) AddRuns(tree, name, results);
  AddRatios(tree, results);
}

}  // namespace blocksieve::bench::levels
