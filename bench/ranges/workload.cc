// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "bench/ranges/database.h"
#include "bench/ranges/experiment.h"

namespace blocksieve::bench::ranges {
namespace {

// A number below `count`: the k-th with a probability proportional to about 1 / k^0.99, as in YCSB.
// Inverts the integral of the density.
uint64_t Zipfian(uint64_t count, Random& random) {
  constexpr double kExponent = 0.01;  // 1 - 0.99
  const double uniform = std::generate_canonical<double, 53>(random);
  const double most = std::pow(static_cast<double>(count) + 1, kExponent) - 1;
  const double x = std::pow(1 + uniform * most, 1 / kExponent);
  return std::min(count - 1, static_cast<uint64_t>(x - 1));
}

// Workload E of YCSB (Cooper et al., 2010), except that scans end at a key and not after a number
// of rows: a range filter needs an upper bound.
class Operations {
 public:
  explicit Operations(SortedKeys keys) : keys_(std::move(keys)) {}

  // A range to scan or, without an end, a key to put.
  Range Next() {
    constexpr uint64_t kInserts = 20;  // one operation in twenty
    constexpr uint64_t kLongest = 100;
    const std::string& key =
        keys_[Zipfian(keys_.size(), random_) * 0x9E3779B97F4A7C15 % keys_.size()];
    const double expected = static_cast<double>(1 + random_() % kLongest);
    if (random_() % kInserts != 0) return IntegerRange(key, expected, keys_.size());
    return {IntegerRange(key, 0.001 * expected, keys_.size()).end, ""};
  }

 private:
  const SortedKeys keys_;
  Random random_{13};
};

uint64_t Perform(RangeDatabase& database, std::span<const Range> operations) {
  uint64_t found = 0;
  for (const Range& each : operations) {
    if (each.end.empty()) {
      database.Put(each.begin);
    } else {
      found += database.Scan(each);
    }
  }
  return found;
}

}  // namespace

void MeasureWorkload(const Effort& effort, Job& job) {
  job.progress.Show("YCSB E");
  const TempDir dir(job.db_dir);
  const Dataset dataset = Integers(effort.keys, 0, job.options.seed + 1);
  Operations all(dataset.AllKeys());
  RangeDatabase databases[] = {{Role::kPoints, {}, dir.path() / "points"},
                               {Role::kRanges, {}, dir.path() / "ranges"}};
  for (RangeDatabase& database : databases) database.Fill(dataset);
  Table& table = job.results.In(
      "YCSB E", "Filters",
      "95 % scans that begin at a Zipfian key and hold 1 to 100 keys, 5 % inserts; 8-byte "
      "integers. Data blocks per operation, cached.");
  for (const Reads reads : {Reads::kCached, Reads::kCold}) {
    const size_t count = reads == Reads::kCold ? effort.cold_operations : effort.operations;
    for (RangeDatabase& database : databases) {
      if (database.reads() != reads) database.Open(reads);
    }
    std::vector<double> speeds[2];
    uint64_t found[2] = {};
    std::vector<Range> operations(count);
    for (unsigned turn = 0; turn <= effort.turns; ++turn) {
      std::generate(operations.begin(), operations.end(), [&] { return all.Next(); });
      for (const size_t i : {turn % 2, 1 - turn % 2}) {
        CheckInterrupt();
        RangeDatabase& database = databases[i];
        if (turn == 0) {  // counted, not timed
          const CounterWindow window(database.statistics());
          found[i] += Perform(database, operations);
          if (reads == Reads::kCold) continue;
          table[database.name()].Add("data blocks", "", Ratio(window.Stop().data_blocks(), count));
        } else {
          const Stopwatch stopwatch;
          found[i] += Perform(database, operations);
          speeds[i].push_back(static_cast<double>(count) / database.Seconds(stopwatch));
        }
      }
    }
    if (found[0] != found[1]) Fail("YCSB E: {} keys found, {} with ranges", found[0], found[1]);
    const std::string where = reads == Reads::kCold ? "cold: " : "cached: ";
    for (size_t i = 0; i < 2; ++i) {
      Line& line = table[databases[i].name()];
      line.Add(where + "operations per second", "count", speeds[i]);
      if (i == 1) line.Add(where + "times as fast", "x", PairedRatio(speeds[1], speeds[0]));
    }
  }
}

}  // namespace blocksieve::bench::ranges
