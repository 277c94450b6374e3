#include "bench/ranges/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <utility>

#include "bench/ranges/comparison.h"
#include "bench/ranges/range_database.h"
#include "bench/ranges/range_queries.h"
#include "bench/support/files.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::ranges {
namespace {

constexpr size_t kPrefixSample = 2'000;  // ranges, of all lengths alike
constexpr size_t kMaxPrefixBytes = 40;

std::vector<std::string> Sample(const std::vector<std::string>& all, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> some;
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
  SetExperiment(const KeySet& set, const Effort& effort, const std::filesystem::path& dir, Job& job)
      : set_(set),
        effort_(effort),
        dir_(dir),
        progress_(job.progress),
        seed_(job.options.seed),
        runs_(RandomRuns(set.keys, seed_ + 1)),
        queries_(DrawQueries(set, effort.ranges, seed_ + 2)),
        mixed_(MixedLengths(queries_)),
        found_(DrawRangesOfOneKey(set, effort.ranges, seed_ + 9)) {
    comparison_.set = set.name;
    comparison_.num_keys = set.keys.size();
    for (const RangeQueries& each : queries_) comparison_.queries.push_back(each.name);
  }

  Comparison Run() {
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
  size_t ChoosePrefix() {
    Show("choosing a prefix");
    const auto sample = std::span(mixed_).first(std::min(kPrefixSample, mixed_.size()));
    size_t best = 0;
    double fewest = kRuns + 1;
    for (size_t bytes = 1; bytes <= kMaxPrefixBytes; ++bytes) {
      const double blocks = BlocksWithPrefixes(runs_, sample, bytes);
      if (blocks < fewest) best = bytes;
      fewest = std::min(fewest, blocks);
    }
    return best;
  }

  void Fill() {
    const size_t prefix_bytes = ChoosePrefix();
    for (size_t i = 0; i < kNumRoles; ++i) {
      const Role role{static_cast<int>(i)};
      Show(fmt::format("filling, {}", RoleName(role)));
      auto database = std::make_unique<RangeDatabase>(role, prefix_bytes, dir_ / RoleName(role));
      Measured& measured = comparison_.measured[i];
      measured.fill_seconds = database->Fill(runs_);
      measured.filter_bytes = static_cast<double>(database->Shape().filter_bytes);
      measured.refusals_per_file =
          static_cast<double>(database->refusals()) / static_cast<double>(kRuns);
      databases_.push_back(std::move(database));
    }
  }

  // Calls `measure(database, its results, turn)` for each contestant that is measured.
  template <class IsMeasured, class Measure>
  void Each(unsigned turns, IsMeasured is_measured, Measure measure) {
    InTurns(turns, kNumRoles, [&](size_t i, unsigned turn) {
      const Role role{static_cast<int>(i)};
      if (is_measured(role)) measure(*databases_[i], comparison_.measured[i], turn);
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
    Each(effort_.lookup_turns, IsLookedUp,
         [&](RangeDatabase& database, Measured& measured, unsigned turn) {
           const uint64_t seed = seed_ + turn;  // the same keys for every contestant
           measured.hit_seconds.push_back(
               database.TimeGets(Sample(set_.keys, effort_.lookups, seed), true));
           measured.miss_seconds.push_back(
               database.TimeGets(Sample(set_.others, effort_.lookups, seed), false));
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
  const uint64_t seed_;
  const std::vector<SortedKeys> runs_;
  const std::vector<RangeQueries> queries_;
  const std::vector<Range> mixed_;
  const std::vector<Range> found_;
  std::vector<std::unique_ptr<RangeDatabase>> databases_;  // by Role
  Comparison comparison_;
};

}  // namespace

void RunExperiment(const Effort& effort, Job& job) {
  const uint64_t seed = job.options.seed;
  job.results.SetFact("runs", kRuns);
  job.results.SetFact("range_fpr", kComparedRangeFpr);
  for (const std::string& name : effort.sets) {
    job.progress.Show(fmt::format("{}: drawing keys and ranges", name));
    const TempDir databases(job.db_dir);
    const KeySet set = MakeKeySet(name, effort.keys, seed);
    SetExperiment(set, effort, databases.path(), job).Run().AddTo(job.results);
  }
  for (const std::string& name : effort.filter_sets) {
    job.progress.Show(fmt::format("{}: the filter alone", name));
    const KeySet set = MakeKeySet(name, effort.filter_keys, seed);
    MeasureFilter(set, DrawQueries(set, effort.ranges, seed + 2), effort.filter_turns, job.results);
  }
  MeasureWorkloads(effort, job);
}

}  // namespace blocksieve::bench::ranges
