#include "bench/ranges/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <utility>

#include "bench/ranges/comparison.h"
#include "bench/ranges/filter_alone.h"
#include "bench/ranges/range_database.h"
#include "bench/ranges/range_queries.h"
#include "bench/support/files.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::ranges {
namespace {

constexpr size_t kPrefixSample = 500;  // ranges of each kind
constexpr size_t kMaxPrefixBytes = 40;

template <class T>
std::vector<T> Sample(const std::vector<T>& all, size_t count, std::mt19937_64& random) {
  std::vector<T> some;
  for (size_t i = 0; i < count; ++i) some.push_back(all[random() % all.size()]);
  return some;
}

// The `turn`-th part of them; all lengths are in each part.
std::span<const Range> Part(const std::vector<Range>& ranges, size_t size, unsigned turn) {
  const size_t parts = std::max<size_t>(1, ranges.size() / size);
  return std::span(ranges).subspan(turn % parts * size).first(std::min(size, ranges.size()));
}

class SetExperiment {
 public:
  SetExperiment(const KeySet& set, const Effort& effort, uint64_t seed,
                const std::filesystem::path& dir, Progress& progress)
      : set_(set),
        effort_(effort),
        dir_(dir),
        progress_(progress),
        random_(seed),
        runs_(RandomRuns(set.keys, seed + 1)),
        queries_(DrawQueries(set, effort.ranges, seed + 2)),
        mixed_(MixedLengths(queries_)),
        found_(DrawRangesOfOneKey(set, effort.ranges, seed + 9)) {
    comparison_.set = set.name;
    comparison_.num_keys = set.keys.size();
  }

  Comparison Run() {
    ChoosePrefix();
    Fill();
    CountBlocks();
    TimeSeeks();
    TimeLookups();
    TimeCold();
    return std::move(comparison_);
  }

 private:
  void Show(std::string_view what) { progress_.Show(fmt::format("{}: {}", set_.name, what)); }

  // A database has one prefix extractor for ranges of all lengths. It gets the one with which they
  // read the fewest blocks.
  void ChoosePrefix() {
    Show("choosing a prefix");
    size_t shortest = SIZE_MAX, longest = 0;
    for (const std::string& key : set_.keys) {
      shortest = std::min(shortest, key.size());
      longest = std::max(longest, key.size());
    }
    for (const RangeQueries& queries : queries_) {
      comparison_.queries.push_back({queries.name, static_cast<double>(kRuns)});
    }
    double fewest = 1e9;
    for (size_t bytes = 1; bytes <= std::min(longest, kMaxPrefixBytes); ++bytes) {
      double all_lengths = 0;
      for (size_t i = 0; i < queries_.size(); ++i) {
        const std::span<const Range> ranges = queries_[i].ranges;
        const double blocks =
            BlocksWithPrefixes(runs_, ranges.first(std::min(kPrefixSample, ranges.size())), bytes);
        double& best = comparison_.queries[i].best_prefix_blocks;
        best = std::min(best, blocks);
        if (i < std::size(kLengths)) all_lengths += blocks;
      }
      if (all_lengths < fewest) {
        fewest = all_lengths;
        comparison_.prefix_bytes = bytes;
      }
    }
    extractor_ = PrefixExtractor(comparison_.prefix_bytes, shortest);
  }

  void Fill() {
    for (size_t i = 0; i < kNumRoles; ++i) {
      const Role role{static_cast<int>(i)};
      Show(fmt::format("filling, {}", RoleName(role)));
      databases_.push_back(
          std::make_unique<RangeDatabase>(role, extractor_, dir_ / RoleName(role)));
      Measured& measured = comparison_.of(role);
      measured.fill_seconds = databases_.back()->Fill(runs_);
      measured.filter_bytes = static_cast<double>(databases_.back()->Shape().filter_bytes);
      measured.refusals_per_file =
          static_cast<double>(databases_.back()->refusals()) / static_cast<double>(kRuns);
    }
  }

  // Calls `measure(database, its results, turn)` for each contestant that is measured.
  template <class IsMeasured, class Measure>
  void Each(unsigned turns, IsMeasured is_measured, Measure measure) {
    InTurns(turns, kNumRoles, [&](size_t i, unsigned turn) {
      const Role role{static_cast<int>(i)};
      if (is_measured(role)) measure(*databases_[i], comparison_.of(role), turn);
    });
  }

  void CountBlocks() {
    Show("counting");
    Each(1, IsSought, [&](RangeDatabase& database, Measured& measured, unsigned) {
      for (const RangeQueries& queries : queries_) {
        measured.blocks_per_seek.push_back(database.CountBlocks(queries.ranges, 0));
      }
      measured.blocks_per_found = database.CountBlocks(found_, 1);
    });
  }

  void TimeSeeks() {
    Show("timing seeks");
    Each(effort_.turns, IsSought, [&](RangeDatabase& database, Measured& measured, unsigned turn) {
      measured.empty_seconds.push_back(
          database.TimeScans(Part(mixed_, effort_.timed_ranges, turn), 0));
      measured.found_seconds.push_back(
          database.TimeScans(Part(found_, effort_.timed_ranges / 4, turn), 1));
    });
  }

  void TimeLookups() {
    Show("timing lookups");
    std::vector<std::string> hits, misses;
    unsigned drawn = UINT_MAX;
    Each(effort_.lookup_turns, IsLookedUp,
         [&](RangeDatabase& database, Measured& measured, unsigned turn) {
           if (std::exchange(drawn, turn) != turn) {
             hits = Sample(set_.keys, effort_.lookups, random_);
             misses = Sample(set_.others, effort_.lookups, random_);
           }
           measured.hit_seconds.push_back(database.TimeGets(hits, true));
           measured.miss_seconds.push_back(database.TimeGets(misses, false));
         });
  }

  void TimeCold() {
    Show("timing cold seeks");
    const auto is_measured = [](Role role) {
      return role == Role::kNoFilter || role == Role::kRanges;
    };
    Each(1, is_measured,
         [](RangeDatabase& database, Measured&, unsigned) { database.Open(Reads::kCold); });
    Each(effort_.turns, is_measured,
         [&](RangeDatabase& database, Measured& measured, unsigned turn) {
           measured.cold_seconds.push_back(
               database.TimeScans(Part(mixed_, effort_.cold_ranges, turn), 0));
         });
  }

  const KeySet& set_;
  const Effort& effort_;
  const std::filesystem::path dir_;
  Progress& progress_;
  std::mt19937_64 random_;
  const std::vector<SortedKeys> runs_;
  const std::vector<RangeQueries> queries_;
  const std::vector<Range> mixed_;
  const std::vector<Range> found_;
  std::shared_ptr<const rocksdb::SliceTransform> extractor_;
  std::vector<std::unique_ptr<RangeDatabase>> databases_;  // by Role
  Comparison comparison_;
};

}  // namespace

void RunExperiment(const Effort& effort, uint64_t seed, const std::filesystem::path& dir,
                   Progress& progress, Results& results) {
  results.SetFact("runs", kRuns);
  results.SetFact("range_fpr", kComparedRangeFpr);
  for (const std::string& name : effort.sets) {
    progress.Show(fmt::format("{}: drawing keys and ranges", name));
    const TempDir databases(dir);
    const KeySet set = MakeKeySet(name, effort.keys, seed);
    SetExperiment(set, effort, seed, databases.path(), progress).Run().AddTo(results);
  }
  for (const std::string& name : effort.filter_sets) {
    progress.Show(fmt::format("{}: the filter alone", name));
    const KeySet set = MakeKeySet(name, effort.filter_keys, seed);
    MeasureFilter(set, DrawQueries(set, effort.ranges, seed + 2), effort.filter_turns, results);
  }
  MeasureWorkloads(effort.workloads, dir, progress, results);
}

}  // namespace blocksieve::bench::ranges
