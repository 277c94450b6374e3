#include "bench/levels/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/support/rocksdb_version.h"
#include "bench/support/text_table.h"

namespace blocksieve::bench::levels {
namespace {

std::string Reads(double reads) { return fmt::format("{:.5f}", reads); }

std::string CurveTable(const TreeResults& tree) {
  TextTable table({"", "filter bits\nper key", "wasted reads\nper lookup", "\n/ stock Bloom",
                   "with as many bits:\nstock Ribbon", "\nthe optimum"});
  const auto add = [&](const std::string& name, const Measurement& measured) {
    const double bits = measured.bits_per_key();
    const double reads = measured.wasted_reads();
    table.AddRow(
        {name, fmt::format("{:.3f}", bits), Reads(reads),
         fmt::format("{:.4f}", reads / tree.CurveOf(Role::kStockBloom).WastedReadsAt(bits)),
         fmt::format("{:.3f}", reads / tree.CurveOf(Role::kStockRibbon).WastedReadsAt(bits)),
         fmt::format("{:.3f}", reads / measured.optimum())});
  };
  for (const Curve& curve : tree.curves) {
    for (const Point& point : curve.points) {
      add(fmt::format("{}, {} bits", curve.name, point.asked_bits), point.measured);
    }
  }
  add(fmt::format("by level, reopened, {} flushes later", tree.flushes_after_reopening),
      tree.after_reopening);
  add("by level, asked for stock Bloom 10's reads", tree.asked_for_reads.measured);
  return table.ToString();
}

// The filters of each run: where the memory goes. What compactions choose depends on the sizes of
// files, filters included, so not every tree has every level.
std::string RunTable(const TreeResults& tree) {
  const std::array roles = {Role::kStockBloom, Role::kByLevel, Role::kByLevelAuto};
  // By level, and by place in it.
  std::map<std::pair<int, int>, std::array<const Run*, roles.size()>> rows;
  for (size_t column = 0; column < roles.size(); ++column) {
    const std::vector<Point>& points = tree.CurveOf(roles[column]).points;
    const Point& point = *std::find_if(points.begin(), points.end(), [](const Point& each) {
      return each.asked_bits == kComparedBits;
    });
    std::map<int, int> num_runs;
    for (const Run& run : point.measured.runs) {
      rows[{run.level, num_runs[run.level]++}][column] = &run;
    }
  }
  TextTable table({"sorted run", "stock Bloom 10:\nkeys", "\nbits per key",
                   "by level, ribbon:\nkeys", "\nbits per key", "by level, auto:\nkeys",
                   "\nbits per key"});
  for (const auto& [place, runs] : rows) {
    std::vector<std::string> cells = {fmt::format("level {}", place.first)};
    for (const Run* const run : runs) {
      cells.push_back(run == nullptr ? "-" : fmt::format("{}", run->keys));
      cells.push_back(run == nullptr
                          ? "-"
                          : fmt::format("{:.2f}", 8 * static_cast<double>(run->filter_bytes) /
                                                      static_cast<double>(run->keys)));
    }
    table.AddRow(cells);
  }
  return table.ToString();
}

}  // namespace

Targets JudgeTargets(const Results& results) {
  Targets targets;
  for (const TreeResults& tree : results.trees) {
    const Measurement& bloom = tree.StockBloom().measured;
    const double bits = bloom.bits_per_key();
    const Curve& by_level = tree.CurveOf(Role::kByLevel);
    const double reads = by_level.WastedReadsAt(bits);
    const auto judge = [&](const std::string& what, double figure, double limit) {
      targets.AtMost(fmt::format("{}: {}", tree.name, what), figure, limit, " x");
    };
    targets.AtMostOneIn(fmt::format("{}: wasted reads, same bytes as stock Bloom 10", tree.name),
                        reads / bloom.wasted_reads(), 20);
    judge("the same against stock Ribbon",
          reads / tree.CurveOf(Role::kStockRibbon).WastedReadsAt(bits), 0.40);
    judge("the same against stock Ribbon with Bloom on level 0",
          reads / tree.CurveOf(Role::kStockHybrid).WastedReadsAt(bits), 0.40);
    judge("the same against one rate on all levels",
          reads / tree.CurveOf(Role::kUniform).WastedReadsAt(bits), 0.50);
    const auto at_compared =
        std::find_if(by_level.points.begin(), by_level.points.end(),
                     [](const Point& point) { return point.asked_bits == kComparedBits; });
    judge("against the optimum for the actual sizes",
          at_compared->measured.wasted_reads() / at_compared->measured.optimum(), 1.05);
    judge(fmt::format("the same, reopened, {} flushes later", tree.flushes_after_reopening),
          tree.after_reopening.wasted_reads() / tree.after_reopening.optimum(), 1.10);
    judge("memory for stock Bloom 10's wasted reads",
          by_level.BitsPerKeyAt(bloom.wasted_reads()) / bits, 0.60);
  }
  return targets;
}

void PrintReport(const Results& results, const std::filesystem::path& json, std::FILE* out) {
  fmt::print(out, "{} {:.0f} s.\n", DescribeRocksDb(), results.seconds);
  fmt::print(
      out,
      "\n{} keys in random order, a tree per row, left alone after each flush until there was "
      "nothing more\nto compact. Wasted reads: data blocks read by {} lookups of absent keys, "
      "as RocksDB counted them.\nComparisons at equal memory: on the line through the nearest "
      "settings. The optimum is computed as if every lookup asked every run.\n",
      results.keys, results.lookups);
  for (const TreeResults& tree : results.trees) {
    fmt::print(out, "\n{}\n\n{}\n{}", tree.name, CurveTable(tree), RunTable(tree));
  }
  fmt::print(out, "\n{}Details: {}\n", JudgeTargets(results).ToText(), json.string());
}

}  // namespace blocksieve::bench::levels
