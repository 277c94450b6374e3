#include "bench/ranges/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "bench/ranges/database.h"
#include "bench/ranges/key_sets.h"
#include "bench/ranges/runs.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::ranges {
namespace {

using Random = std::mt19937_64;

// Reads a range, or puts its beginning if it has no end.
using Operations = std::vector<Range>;

struct Workload {
  std::string name;
  std::string description;
  std::vector<std::vector<std::string>> runs;
  std::function<Range()> next;
};

bool OneIn(uint64_t count, Random& random) { return random() % count == 0; }

// Workload E of YCSB (Cooper et al., 2010), but for scans that end at a key rather than after so
// many rows, without which no filter can know what is asked for.
Workload ShortScans(uint64_t num_keys) {
  constexpr uint64_t kInserts = 20;  // one operation in so many
  constexpr uint64_t kLongest = 100;
  Workload workload;
  workload.name = "YCSB E";
  workload.description =
      "95 % scans that begin at a Zipfian key and hold 1 to 100 keys, 5 % inserts; user%016d";
  auto set = std::make_shared<KeySet>(MakeKeySet(kUsers, num_keys, 11));
  workload.runs = RandomRuns(set->keys, 12);
  workload.next = [set, random = Random(13), inserted = size_t{0}]() mutable -> Range {
    if (OneIn(kInserts, random)) return {set->others[inserted++ % set->others.size()], ""};
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
    std::vector<std::string>& keys = workload.runs.emplace_back();
    for (uint64_t i = num_keys * run / kRuns; i < num_keys * (run + 1) / kRuns; ++i) {
      keys.push_back(key_of(active_tenant(filling), kFirst + i * kStep));
    }
    std::sort(keys.begin(), keys.end());
  }
  workload.next = [=, random = Random(15), now = kFirst + num_keys * kStep]() mutable -> Range {
    const uint64_t kind = random() % 100;
    if (kind < 5) return {key_of(active_tenant(random), now += kStep), ""};
    const uint64_t tenant = OneIn(2, random) ? active_tenant(random) : random() % tenants;
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
uint64_t Perform(const Operations& operations, Database& database) {
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

WorkloadResult Measure(Workload workload, const WorkloadEffort& effort,
                       const std::filesystem::path& dir, Progress& progress) {
  WorkloadResult result{workload.name, workload.description, effort.keys, 0, {}};
  progress.Show(workload.name + ": filling");
  std::vector<std::unique_ptr<Database>> databases;
  for (const Role role : {Role::kPoints, Role::kRanges}) {
    databases.push_back(std::make_unique<Database>(role, nullptr, dir / RoleName(role)));
    databases.back()->Fill(workload.runs);
    databases.back()->ReadAll();
    result.contestants.emplace_back().role = role;
  }

  // Each gets the same operations. What one finds, the other has to find.
  const auto in_turn = [&](size_t count, auto perform) {
    const Operations operations = Draw(workload, count);
    uint64_t found = 0;
    for (size_t i = 0; i < databases.size(); ++i) {
      CheckInterrupt();
      const uint64_t own = perform(operations, i);
      if (i > 0 && own != found) {
        Fail("{}: {} keys found, {} with ranges", workload.name, found, own);
      }
      found = own;
    }
    return found;
  };
  const auto timed = [&](std::vector<double> WorkloadTimes::*times) {
    return [&, times](const Operations& operations, size_t i) {
      const Stopwatch stopwatch;
      const uint64_t found = Perform(operations, *databases[i]);
      (result.contestants[i].*times)
          .push_back(1e9 * databases[i]->Seconds(stopwatch) /
                     static_cast<double>(operations.size()));
      return found;
    };
  };

  progress.Show(workload.name + ": cached");
  const uint64_t found = in_turn(effort.operations, [&](const Operations& operations, size_t i) {
    const BlockCount count;
    const uint64_t own = Perform(operations, *databases[i]);
    result.contestants[i].blocks_per_operation =
        static_cast<double>(count.data_blocks()) / static_cast<double>(operations.size());
    return own;
  });
  result.keys_per_scan =
      static_cast<double>(found) / (0.95 * static_cast<double>(effort.operations));
  for (unsigned turn = 0; turn < effort.turns; ++turn) {
    in_turn(effort.operations, timed(&WorkloadTimes::nanoseconds));
  }
  progress.Show(workload.name + ": cold");
  for (const auto& database : databases) database->Open(Temperature::kCold);
  for (unsigned turn = 0; turn < effort.turns; ++turn) {
    in_turn(effort.cold_operations, timed(&WorkloadTimes::cold_nanoseconds));
  }
  return result;
}

}  // namespace

std::vector<WorkloadResult> MeasureWorkloads(const WorkloadEffort& effort,
                                             const std::filesystem::path& dir, Progress& progress) {
  return {Measure(ShortScans(effort.keys), effort, dir / "short_scans", progress),
          Measure(TimeSeries(effort.keys), effort, dir / "time_series", progress)};
}

}  // namespace blocksieve::bench::ranges
