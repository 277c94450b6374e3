#include "bench/read_amp/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "bench/support/files.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench::read_amp {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

void AddRate(const Pass& pass, LookupResult& result) {
  result.lookups_per_second.push_back(static_cast<double>(pass.lookups) / pass.seconds);
}

// Cold passes are slow: counted and timed at once. Counting costs nanoseconds there.
void MeasureCold(Engine& engine, const LookupKeys& keys, const Effort& effort, TreeResult& result) {
  engine.Open(Temperature::kCold);
  AddRate(engine.LookUpAbsent(keys, effort.max_cold_seconds, &result.cold_absent.counters),
          result.cold_absent);
  AddRate(engine.LookUpPresent(keys, effort.max_cold_seconds, &result.cold_present.counters),
          result.cold_present);
}

// Warm passes are counted first, then timed without counting. Verifying has warmed the cache.
void MeasureWarm(Engine& engine, const LookupKeys& keys, const Effort& effort, TreeResult& result) {
  engine.Open(Temperature::kWarm);
  result.shape = engine.Shape();
  engine.VerifyAllRows();
  engine.LookUpAbsent(keys, kNoLimit, &result.warm_absent.counters);
  engine.LookUpPresent(keys, kNoLimit, &result.warm_present.counters);
  for (unsigned i = 0; i < effort.timed_warm_passes; ++i) {
    AddRate(engine.LookUpAbsent(keys, kNoLimit, nullptr), result.warm_absent);
    AddRate(engine.LookUpPresent(keys, kNoLimit, nullptr), result.warm_present);
  }
}

// A filter that answers "may match" to everything loses no key: only this tells.
void CheckFilterRejects(const Contestant& contestant, const TreeResult& tree) {
  if (contestant.role == Role::kNoFilter) return;
  for (const LookupResult* lookups : {&tree.cold_absent, &tree.warm_absent}) {
    if (lookups->counters.filter_negatives == 0) {
      Fail("{}: the filters never said no in {} lookups of absent keys", contestant.name,
           lookups->counters.lookups);
    }
  }
}

void MeasureTree(Engine& engine, const Contestant& contestant, const LookupKeys& keys,
                 const Effort& effort, TreeResult& result) {
  MeasureCold(engine, keys, effort, result);
  MeasureWarm(engine, keys, effort, result);
  CheckFilterRejects(contestant, result);
}

// The comparison is only fair if every contestant has the same rows in the same places.
void CheckSameTrees(const Results& results) {
  const ContestantResult& first = results.contestants.front();
  for (const ContestantResult& each : results.contestants) {
    for (const TreeResult* tree : {&each.leveled, &each.compacted}) {
      if (tree->shape.num_entries != results.num_rows) {
        Fail("{}: the tree has {} entries for {} rows", each.contestant.name,
             tree->shape.num_entries, results.num_rows);
      }
    }
    if (first.leveled.shape.levels != each.leveled.shape.levels ||
        first.compacted.shape.levels != each.compacted.shape.levels) {
      Fail("{} and {}: the trees differ in files or entries per level", first.contestant.name,
           each.contestant.name);
    }
  }
}

}  // namespace

Results RunExperiment(const Input& input, double target_fpr, uint64_t seed, const Effort& effort,
                      const std::filesystem::path& db_dir, Progress& progress) {
  const Stopwatch stopwatch;
  Results results;
  results.target_fpr = target_fpr;
  results.input = input.description;
  results.num_rows = input.rows.size();
  results.direct_reads = SupportsDirectReads(db_dir);
  for (Contestant& contestant : MakeContestants(target_fpr)) {
    MakePolicy(contestant);  // fail before the work, not after
    results.contestants.emplace_back().contestant = std::move(contestant);
  }

  // Shuffled, so that every file covers the whole range of keys, as with most workloads; in key
  // order files would not overlap and no lookup would meet more than one.
  const std::vector<uint32_t> order = RandomOrder(input.rows.size(), seed);

  const size_t count = results.contestants.size();
  double longest_round = 0;
  for (; results.rounds < effort.rounds; ++results.rounds) {
    const double round_start = stopwatch.Seconds();
    if (results.rounds > 0 && effort.no_new_round_after > 0 &&
        round_start + longest_round > effort.no_new_round_after) {
      break;
    }
    progress.Show("choosing keys to look up");
    const LookupKeys keys = DrawLookupKeys(input.rows, effort.lookups, seed + 1 + results.rounds);
    for (size_t i = 0; i < count; ++i) {
      ContestantResult& result = results.contestants[(i + results.rounds) % count];
      const auto show = [&](std::string_view what) {
        progress.Show(fmt::format("round {} of at most {}, {} of {}: {}: {}", results.rounds + 1,
                                  effort.rounds, i + 1, count, result.contestant.name, what));
      };
      const std::filesystem::path path = db_dir / "db";
      {
        Engine engine(result.contestant, input.rows, path, results.direct_reads);
        show("filling");
        result.fill_seconds.push_back(engine.Fill(order));
        show("looking up");
        MeasureTree(engine, result.contestant, keys, effort, result.leveled);
        show("compacting");
        result.compaction_seconds.push_back(engine.CompactAll());
        show("looking up, compacted");
        MeasureTree(engine, result.contestant, keys, effort, result.compacted);
        engine.Close();
      }
      std::filesystem::remove_all(path);
    }
    CheckSameTrees(results);
    longest_round = std::max(longest_round, stopwatch.Seconds() - round_start);
  }

  results.seconds = stopwatch.Seconds();
  return results;
}

}  // namespace blocksieve::bench::read_amp
