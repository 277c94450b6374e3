#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/ranges/experiment.h"
#include "bench/ranges/range_database.h"
#include "bench/ranges/range_queries.h"
#include "bench/support/files.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::ranges {
namespace {

using Random = std::mt19937_64;

struct Workload {
  std::string name;
  std::string description;
  std::vector<SortedKeys> runs;
  std::function<Range()> next;  // a range to scan or, without an end, a key to put
};

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
Workload ShortScans(uint64_t num_keys) {
  constexpr uint64_t kInserts = 20;  // one operation in twenty
  constexpr uint64_t kLongest = 100;
  auto set = std::make_shared<KeySet>(MakeKeySet(kUsers, num_keys, 11));
  const auto next = [set, random = Random(13), inserted = size_t{0}]() mutable -> Range {
    if (random() % kInserts == 0) return {set->others[inserted++ % set->others.size()], ""};
    const uint64_t rank = Zipfian(set->keys.size(), random);
    const std::string& begin = set->keys[rank * 0x9E3779B97F4A7C15 % set->keys.size()];
    return {begin, set->end(begin, static_cast<double>(1 + random() % kLongest))};
  };
  return {"YCSB E",
          "95 % scans that begin at a Zipfian key and hold 1 to 100 keys, 5 % inserts; user%016d",
          RandomRuns(set->keys, 12), next};
}

// Events of tenants, some of them very active. A run has the events of a few days, so it has all
// tenants: its key range says nothing about time.
Workload TimeSeries(uint64_t num_keys) {
  constexpr uint64_t kFirst = 1'700'000'000'000;
  constexpr uint64_t kStep = 1'000;              // milliseconds from one event to the next
  constexpr uint64_t kRecent = 10 * 60 * 1'000;  // ten minutes
  constexpr uint64_t kPast = 60 * 60 * 1'000;    // an hour
  const uint64_t tenants = std::max<uint64_t>(1, num_keys / 20);
  const auto key_of = [](uint64_t tenant, uint64_t time) {
    return fmt::format("u{:07}:{:013}", tenant, time);
  };
  const auto active_tenant = [tenants](Random& random) {
    return Zipfian(tenants, random) * 7'919 % tenants;
  };
  std::vector<SortedKeys> runs(kRuns);
  Random filling(14);
  for (uint64_t run = 0; run < kRuns; ++run) {
    for (uint64_t i = num_keys * run / kRuns; i < num_keys * (run + 1) / kRuns; ++i) {
      runs[run].push_back(key_of(active_tenant(filling), kFirst + i * kStep));
    }
    std::sort(runs[run].begin(), runs[run].end());
  }
  const auto next = [=, random = Random(15), now = kFirst + num_keys * kStep]() mutable -> Range {
    const uint64_t kind = random() % 100;
    if (kind < 5) return {key_of(active_tenant(random), now += kStep), ""};
    const uint64_t tenant = random() % 2 == 0 ? active_tenant(random) : random() % tenants;
    if (kind < 60) return {key_of(tenant, now - kRecent), key_of(tenant, now + 1)};
    const uint64_t begin = kFirst + random() % (now - kFirst);
    return {key_of(tenant, begin), key_of(tenant, begin + kPast)};
  };
  return {"time series",
          "55 % scans of a tenant's last ten minutes, 40 % of an hour of its past, half of them of "
          "any tenant and half of active ones, 5 % inserts; runs hold consecutive periods; " +
              std::string(kTenantTime),
          std::move(runs), next};
}

// Runs the same operations on databases with and without range filters, and compares the results.
class WorkloadRun {
 public:
  WorkloadRun(Workload workload, const std::filesystem::path& dir)
      : workload_(std::move(workload)),
        databases_{{Role::kPoints, {}, dir / "points"}, {Role::kRanges, {}, dir / "ranges"}} {
    for (RangeDatabase& database : databases_) database.Fill(workload_.runs);
  }

  void CountBlocks(size_t count, Results& results) {
    std::vector<double> blocks[2];
    const uint64_t found = Perform(1, count, [&](size_t i, const auto& perform) {
      const CounterWindow window(databases_[i].statistics());
      perform();
      blocks[i].push_back(static_cast<double>(window.Stop().data_blocks()));
    });
    for (size_t i = 0; i < 2; ++i) {
      results.Of(databases_[i].name(), {{"workload", workload_.name}})
          .Add("data blocks per operation", "", blocks[i].front() / static_cast<double>(count))
          .Add("keys per scan", "",
               static_cast<double>(found) / (0.95 * static_cast<double>(count)));
    }
  }

  void Time(Reads reads, unsigned turns, size_t count, Results& results) {
    for (RangeDatabase& database : databases_) {
      if (reads != database.reads()) database.Open(reads);
    }
    std::vector<double> speeds[2];
    Perform(turns, count, [&](size_t i, const auto& perform) {
      const Stopwatch stopwatch;
      perform();
      speeds[i].push_back(static_cast<double>(count) / databases_[i].Seconds(stopwatch));
    });
    for (size_t i = 0; i < 2; ++i) {
      auto rows = results.Of(
          databases_[i].name(),
          {{"workload", workload_.name}, {"reads", reads == Reads::kCold ? "cold" : "cached"}});
      rows.AddTurns("operations per second", "count", speeds[i]);
      if (i == 1) rows.Add("times as fast", "x", PairedRatio(speeds[1], speeds[0]));
    }
  }

 private:
  // Calls `measure(database number, operations)` for both, in turns. Returns keys found in each.
  template <class Measure>
  uint64_t Perform(unsigned turns, size_t count, Measure measure) {
    uint64_t found[2] = {};
    std::vector<Range> operations;
    InTurns(turns, 2, [&](size_t i, unsigned turn) {
      if (i == turn % 2) {  // the first of this turn
        operations.resize(count);
        std::generate(operations.begin(), operations.end(), std::ref(workload_.next));
      }
      measure(i, [&] { found[i] += PerformOn(databases_[i], operations); });
    });
    if (found[0] != found[1]) {
      Fail("{}: {} keys found, {} with ranges", workload_.name, found[0], found[1]);
    }
    return found[0];
  }

  static uint64_t PerformOn(RangeDatabase& database, std::span<const Range> operations) {
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

  Workload workload_;
  RangeDatabase databases_[2];
};

}  // namespace

void MeasureWorkloads(const Effort& effort, Job& job) {
  std::string descriptions;
  for (Workload& workload : std::vector{ShortScans(effort.keys), TimeSeries(effort.keys)}) {
    job.progress.Show(workload.name);
    descriptions += workload.name + ": " + workload.description + ". ";
    const TempDir databases(job.db_dir);
    WorkloadRun run(std::move(workload), databases.path());
    run.CountBlocks(effort.operations, job.results);
    run.Time(Reads::kCached, effort.workload_turns, effort.operations, job.results);
    run.Time(Reads::kCold, effort.workload_turns, effort.cold_operations, job.results);
  }
  job.results.SetFact("workloads", descriptions);
}

}  // namespace blocksieve::bench::ranges
