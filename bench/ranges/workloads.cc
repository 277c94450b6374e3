#include "bench/ranges/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "bench/ranges/range_database.h"
#include "bench/ranges/range_queries.h"
#include "bench/support/files.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::ranges {
namespace {

using Random = std::mt19937_64;

// Reads a range, or puts its beginning if it has no end.
using Operations = std::vector<Range>;

struct Workload {
  std::string name;
  std::string description;
  std::vector<SortedKeys> runs;
  std::function<Range()> next;
};

// Workload E of YCSB (Cooper et al., 2010), but for scans that end at a key rather than after so
// many rows, without which no filter can know what is asked for.
Workload ShortScans(uint64_t num_keys) {
  constexpr uint64_t kInserts = 20;  // one operation in twenty
  constexpr uint64_t kLongest = 100;
  Workload workload;
  workload.name = "YCSB E";
  workload.description =
      "95 % scans that begin at a Zipfian key and hold 1 to 100 keys, 5 % inserts; user%016d";
  auto set = std::make_shared<KeySet>(MakeKeySet(kUsers, num_keys, 11));
  workload.runs = RandomRuns(set->keys, 12);
  workload.next = [set, random = Random(13), inserted = size_t{0}]() mutable -> Range {
    if (random() % kInserts == 0) return {set->others[inserted++ % set->others.size()], ""};
    const uint64_t rank = Zipfian(set->keys.size(), std::generate_canonical<double, 53>(random));
    const std::string& begin = set->keys[rank * 0x9E3779B97F4A7C15 % set->keys.size()];
    return {begin, set->end(begin, static_cast<double>(1 + random() % kLongest))};
  };
  return workload;
}

// Events of tenants, of which some have many. Each run has those of some days, so it has all
// tenants: the order of keys says nothing about time.
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
    return Zipfian(tenants, std::generate_canonical<double, 53>(random)) * 7'919 % tenants;
  };
  Workload workload;
  workload.name = "time series";
  workload.description =
      "55 % scans of a tenant's last ten minutes, 40 % of an hour of its past, half of them of any "
      "tenant and half of active ones, 5 % inserts; runs one after the other in time; " +
      std::string(kTenantTime);
  Random filling(14);
  for (uint64_t run = 0; run < kRuns; ++run) {
    SortedKeys& keys = workload.runs.emplace_back();
    for (uint64_t i = num_keys * run / kRuns; i < num_keys * (run + 1) / kRuns; ++i) {
      keys.push_back(key_of(active_tenant(filling), kFirst + i * kStep));
    }
    std::sort(keys.begin(), keys.end());
  }
  workload.next = [=, random = Random(15), now = kFirst + num_keys * kStep]() mutable -> Range {
    const uint64_t kind = random() % 100;
    if (kind < 5) return {key_of(active_tenant(random), now += kStep), ""};
    const uint64_t tenant = random() % 2 == 0 ? active_tenant(random) : random() % tenants;
    if (kind < 60) return {key_of(tenant, now - kRecent), key_of(tenant, now + 1)};
    const uint64_t begin = kFirst + random() % (now - kFirst);
    return {key_of(tenant, begin), key_of(tenant, begin + kPast)};
  };
  return workload;
}

Operations Draw(Workload& workload, size_t count) {
  Operations operations;
  while (operations.size() < count) operations.push_back(workload.next());
  return operations;
}

// Returns the keys that scans found.
uint64_t Perform(const Operations& operations, RangeDatabase& database) {
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

struct Figures {
  double blocks_per_operation = 0;
  std::vector<double> cached_speeds;  // operations per second, by turn
  std::vector<double> cold_speeds;
};

constexpr Role kRoles[] = {Role::kPoints, Role::kRanges};

// Each database gets the same operations. What one finds, the other has to find.
class WorkloadRun {
 public:
  WorkloadRun(Workload workload, const std::filesystem::path& dir)
      : workload_(std::move(workload)) {
    for (const Role role : kRoles) {
      databases_.push_back(std::make_unique<RangeDatabase>(role, nullptr, dir / RoleName(role)));
      databases_.back()->Fill(workload_.runs);
    }
  }

  void CountBlocks(size_t count) {
    const Operations operations = Draw(workload_, count);
    uint64_t found[2] = {};
    for (size_t i = 0; i < 2; ++i) {
      const CounterWindow window(databases_[i]->statistics());
      found[i] = Perform(operations, *databases_[i]);
      figures_[i].blocks_per_operation =
          static_cast<double>(window.Stop().data_blocks()) / static_cast<double>(count);
    }
    CheckSame(found);
    keys_per_scan_ = static_cast<double>(found[0]) / (0.95 * static_cast<double>(count));
  }

  void Time(Reads reads, unsigned turns, size_t count, std::vector<double> Figures::*speeds) {
    if (reads == Reads::kCold) {
      for (const auto& database : databases_) database->Open(reads);
    }
    Operations operations;
    uint64_t found[2] = {};
    unsigned drawn = UINT_MAX;
    InTurns(turns, 2, [&](size_t i, unsigned turn) {
      if (std::exchange(drawn, turn) != turn) operations = Draw(workload_, count);
      const Stopwatch stopwatch;
      found[i] += Perform(operations, *databases_[i]);
      (figures_[i].*speeds)
          .push_back(static_cast<double>(count) / databases_[i]->Seconds(stopwatch));
    });
    CheckSame(found);
  }

  void AddTo(Results& results) const {
    for (size_t i = 0; i < 2; ++i) {
      results.Of(RoleName(kRoles[i]), {{"workload", workload_.name}})
          .Add("data blocks per operation", "", figures_[i].blocks_per_operation)
          .Add("keys per scan", "", keys_per_scan_);
      const std::pair<const char*, std::vector<double> Figures::*> kinds[] = {
          {"cached", &Figures::cached_speeds}, {"cold", &Figures::cold_speeds}};
      for (const auto& [reads, speeds] : kinds) {
        auto rows =
            results.Of(RoleName(kRoles[i]), {{"workload", workload_.name}, {"reads", reads}});
        rows.AddTurns("operations per second", "count", figures_[i].*speeds);
        if (i == 1) {
          rows.Add("times as fast", "x", PairedRatio(figures_[1].*speeds, figures_[0].*speeds));
        }
      }
    }
  }

 private:
  void CheckSame(const uint64_t (&found)[2]) const {
    if (found[0] != found[1]) {
      Fail("{}: {} keys found, {} with ranges", workload_.name, found[0], found[1]);
    }
  }

  Workload workload_;
  std::vector<std::unique_ptr<RangeDatabase>> databases_;
  Figures figures_[2];  // by kRoles
  double keys_per_scan_ = 0;
};

}  // namespace

void MeasureWorkloads(const WorkloadEffort& effort, const std::filesystem::path& dir,
                      Progress& progress, Results& results) {
  std::string descriptions;
  for (Workload& workload : std::vector{ShortScans(effort.keys), TimeSeries(effort.keys)}) {
    progress.Show(workload.name);
    descriptions += workload.name + ": " + workload.description + ". ";
    const TempDir databases(dir);
    WorkloadRun run(std::move(workload), databases.path());
    run.CountBlocks(effort.operations);
    run.Time(Reads::kCached, effort.turns, effort.operations, &Figures::cached_speeds);
    run.Time(Reads::kCold, effort.turns, effort.cold_operations, &Figures::cold_speeds);
    run.AddTo(results);
  }
  results.SetFact("workloads", descriptions);
}

}  // namespace blocksieve::bench::ranges
