#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/ranges/experiment.h"
#include "bench/ranges/range_database.h"
#include "bench/ranges/segment_bounds.h"
#include "bench/ranges/structured_keys.h"
#include "bench/support/files.h"
#include "bench/support/measure.h"
#include "lib/prefix/prefix_rule.h"

namespace blocksieve::bench::ranges {
namespace {

constexpr Role kRoles[] = {Role::kPoints,       Role::kNoFilter, Role::kPrefixBloom,
                           Role::kRanges,       Role::kPrefixes, Role::kPrefixesAndRanges,
                           Role::kSegmentBounds};
constexpr size_t kPoints = 0;
constexpr size_t kOnlyRanges = 3;

// The boundary at which the prefixes of a stock prefix Bloom read the fewest runs.
size_t BestDepth(const StructuredKeys& set) {
  size_t best = 1;
  double fewest = 1e9;
  for (size_t depth = 1; depth <= kMaxPrefixes; ++depth) {
    double runs = 0;
    for (const Seeks& seeks : set.seeks) runs += RunsWithPrefix(set, seeks, depth);
    if (runs < fewest) best = depth;
    fewest = std::min(fewest, runs);
  }
  return best;
}

class PrefixExperiment {
 public:
  PrefixExperiment(const StructuredKeys& set, const Effort& effort,
                   const std::filesystem::path& dir, Job& job)
      : set_(set), effort_(effort), results_(job.results), seed_(job.options.seed) {
    const Prefixes prefixes{0, set.prefixes, BestDepth(set)};
    for (const Role role : kRoles) {
      if (role == Role::kSegmentBounds && !kHasSegmentBounds) continue;
      job.progress.Show(fmt::format("{}: filling, {}", set.name, RoleName(role)));
      entries_.push_back({std::make_unique<RangeDatabase>(role, prefixes, dir / RoleName(role))});
      for (const double seconds : entries_.back().database->Fill(set.runs, set.num_compacted)) {
        entries_.back().filling += seconds;
      }
      entries_.back().filter_bytes =
          static_cast<double>(entries_.back().database->Shape().filter_bytes);
    }
    job.progress.Show(set.name + ": seeks and lookups");
  }

  void Run() {
    const auto keys = static_cast<double>(set_.num_keys());
    TimeLookups();
    for (const Seeks& seeks : set_.seeks) MeasureSeeks(seeks);
    for (size_t i = 0; i < entries_.size(); ++i) {
      auto rows = Rows(i);
      rows.Add("bits per key", "", 8 * entries_[i].filter_bytes / keys)
          .Add("writing, relative to point filters", "x",
               entries_[i].filling / entries_[kPoints].filling);
      if (!HasRanges(kRoles[i])) continue;
      rows.Add("bits per key above the point filter", "",
               8 * (entries_[i].filter_bytes - entries_[kPoints].filter_bytes) / keys)
          .Add("absent key, relative to point filters", "x",
               PairedRatio(entries_[i].lookups, entries_[kPoints].lookups));
    }
  }

 private:
  struct Entry {
    std::unique_ptr<RangeDatabase> database;
    double filter_bytes = 0;
    double filling = 0;
    std::vector<double> lookups = {};
  };

  Results::Rows Rows(size_t i, Json parameters = Json::object()) {
    parameters["structure"] = set_.name;
    return results_.Of(entries_[i].database->name(), parameters);
  }

  void TimeLookups() {
    std::mt19937_64 random(seed_);
    std::vector<std::string> absent;
    while (absent.size() < effort_.lookups) {
      const SortedKeys& run = set_.runs[random() % set_.runs.size()];
      std::string key = run[random() % run.size()];
      key.insert(key.size() - 1, "~");
      absent.push_back(std::move(key));
    }
    InTurns(effort_.lookup_turns, entries_.size(), [&](size_t i, unsigned) {
      if (i == kPoints || HasRanges(kRoles[i])) {
        entries_[i].lookups.push_back(entries_[i].database->TimeGets(absent, false));
      }
    });
  }

  void MeasureSeeks(const Seeks& seeks) {
    std::vector<std::vector<double>> seconds(entries_.size());
    InTurns(effort_.turns, entries_.size(), [&](size_t i, unsigned) {
      if (i == kPoints) return;
      seconds[i].push_back(entries_[i].database->TimeScans(seeks.ranges, seeks.keys_in_each));
    });
    for (size_t i = 1; i < entries_.size(); ++i) {
      Rows(i, {{"seeks", seeks.name}})
          .Add("blocks per seek", "",
               entries_[i].database->CountBlocks(seeks.ranges, seeks.keys_in_each))
          .AddTurns("seek", "s", seconds[i])
          .Add("seek, relative to range filters", "x",
               PairedRatio(seconds[i], seconds[kOnlyRanges]));
    }
    results_.Of("exact set of prefixes", {{"seeks", seeks.name}, {"structure", set_.name}})
        .Add("blocks per seek", "", RunsWithPrefix(set_, seeks, 0));
  }

  const StructuredKeys& set_;
  const Effort& effort_;
  Results& results_;
  const uint64_t seed_;
  std::vector<Entry> entries_;  // by kRoles
};

}  // namespace

void MeasurePrefixes(const Effort& effort, Job& job) {
  job.progress.Show("drawing structured keys");
  for (const StructuredKeys& set :
       MakeStructuredKeys(effort.structured_keys, effort.prefix_seeks, job.options.seed)) {
    const TempDir databases(job.db_dir);
    PrefixExperiment(set, effort, databases.path(), job).Run();
    MeasureFilterWithPrefixes(set, effort.filter_turns, job.results);
  }
}

}  // namespace blocksieve::bench::ranges
