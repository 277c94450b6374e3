#include "bench/ranges/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <random>
#include <span>

#include "bench/ranges/database.h"
#include "bench/ranges/filter_alone.h"
#include "bench/ranges/key_sets.h"
#include "bench/ranges/questions.h"
#include "bench/ranges/runs.h"
#include "bench/support/files.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::ranges {
namespace {

constexpr size_t kPrefixSample = 500;  // ranges of each question

template <class T>
std::vector<T> Some(const std::vector<T>& all, size_t count, std::mt19937_64& random) {
  std::vector<T> some;
  for (size_t i = 0; i < count; ++i) some.push_back(all[random() % all.size()]);
  return some;
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
        questions_(DrawQuestions(set, effort.ranges, seed + 2)),
        mixed_(MixedLengths(questions_)),
        found_(DrawRangesOfOneKey(set, effort.ranges, seed + 9)) {
    result_.set = set.name;
    result_.keys = set.keys.size();
    result_.runs = runs_.size();
  }

  SetResult Run() {
    ChoosePrefix();
    Fill();
    CountBlocks();
    TimeSeeks();
    TimeLookups();
    TimeCold();
    return std::move(result_);
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
    std::vector<std::vector<Range>> samples;
    for (const Question& question : questions_) {
      result_.questions.push_back({question.name, question.expected_keys,
                                   StartsName(question.starts), static_cast<double>(kRuns)});
      samples.emplace_back(question.ranges.begin(),
                           question.ranges.begin() + static_cast<ptrdiff_t>(std::min(
                                                         kPrefixSample, question.ranges.size())));
    }
    constexpr size_t kMostPrefixBytes = 40;
    double least = 1e9;
    for (size_t bytes = 1; bytes <= std::min(longest, kMostPrefixBytes); ++bytes) {
      double all_lengths = 0;
      for (size_t i = 0; i < samples.size(); ++i) {
        const double blocks = BlocksWithPrefixes(runs_, samples[i], bytes);
        double& best = result_.questions[i].least_with_prefixes;
        best = std::min(best, blocks);
        if (i < std::size(kLengths)) all_lengths += blocks;
      }
      if (all_lengths < least) {
        least = all_lengths;
        result_.prefix_bytes = bytes;
      }
    }
    prefix_extractor_ = PrefixExtractor(result_.prefix_bytes, shortest);
  }

  void Fill() {
    for (const Role role : kAllRoles) {
      Show(fmt::format("filling, {}", RoleName(role)));
      databases_.push_back(
          std::make_unique<Database>(role, prefix_extractor_, dir_ / RoleName(role)));
      ContestantResult& result = result_.contestants.emplace_back();
      result.role = role;
      result.fill_seconds = databases_.back()->Fill(runs_);
      result.filter_bytes = databases_.back()->FilterBytes();
      result.refusals = databases_.back()->refusals();
      databases_.back()->ReadAll();
    }
  }

  // Calls `measure` for each contestant of which `is_measured`, beginning with another in each
  // turn.
  template <class IsMeasured, class Measure>
  void InTurns(unsigned turns, IsMeasured is_measured, Measure measure) {
    for (unsigned turn = 0; turn < turns; ++turn) {
      for (size_t i = 0; i < databases_.size(); ++i) {
        const size_t at = (i + turn) % databases_.size();
        if (is_measured(databases_[at]->role())) {
          measure(*databases_[at], result_.contestants[at], turn);
        }
      }
    }
  }

  void CountBlocks() {
    Show("counting");
    const auto count = [](Database& database, std::span<const Range> ranges, uint64_t keys) {
      const BlockCount blocks;
      database.TimeScans(ranges, keys);
      return static_cast<double>(blocks.data_blocks()) / static_cast<double>(ranges.size());
    };
    InTurns(1, IsSought, [&](Database& database, ContestantResult& result, unsigned) {
      for (const Question& question : questions_) {
        result.blocks_per_seek.push_back(count(database, question.ranges, 0));
      }
      result.blocks_per_found = count(database, found_, 1);
    });
  }

  // The `turn`-th part of them; all lengths are in each part.
  static std::span<const Range> Part(const std::vector<Range>& ranges, size_t size, unsigned turn) {
    const size_t parts = std::max<size_t>(1, ranges.size() / size);
    return std::span(ranges).subspan(turn % parts * size).first(std::min(size, ranges.size()));
  }

  void TimeSeeks() {
    Show("timing seeks");
    InTurns(effort_.turns, IsSought,
            [&](Database& database, ContestantResult& result, unsigned turn) {
              result.empty_nanoseconds.push_back(
                  database.TimeScans(Part(mixed_, effort_.timed_ranges, turn), 0));
              result.found_nanoseconds.push_back(
                  database.TimeScans(Part(found_, effort_.timed_ranges / 4, turn), 1));
            });
  }

  void TimeLookups() {
    Show("timing lookups");
    std::vector<std::string> hits, misses;
    unsigned drawn = UINT_MAX;
    InTurns(effort_.lookup_turns, IsLookedUp,
            [&](Database& database, ContestantResult& result, unsigned turn) {
              if (drawn != turn) {
                hits = Some(set_.keys, effort_.lookups, random_);
                misses = Some(set_.others, effort_.lookups, random_);
                drawn = turn;
              }
              result.hit_nanoseconds.push_back(database.TimeGets(hits, true));
              result.miss_nanoseconds.push_back(database.TimeGets(misses, false));
            });
  }

  void TimeCold() {
    Show("timing cold seeks");
    const auto is_measured = [](Role role) {
      return role == Role::kNoFilter || role == Role::kRanges;
    };
    InTurns(1, is_measured, [](Database& database, ContestantResult&, unsigned) {
      database.Open(Temperature::kCold);
    });
    InTurns(effort_.turns, is_measured,
            [&](Database& database, ContestantResult& result, unsigned turn) {
              const BlockCount blocks;
              const auto ranges = Part(mixed_, effort_.cold_ranges, turn);
              result.cold_nanoseconds.push_back(database.TimeScans(ranges, 0));
              result.cold_blocks_per_seek += static_cast<double>(blocks.data_blocks()) /
                                             static_cast<double>(ranges.size()) / effort_.turns;
            });
  }

  const KeySet& set_;
  const Effort& effort_;
  const std::filesystem::path dir_;
  Progress& progress_;
  std::mt19937_64 random_;
  const std::vector<std::vector<std::string>> runs_;
  const std::vector<Question> questions_;
  const std::vector<Range> mixed_;
  const std::vector<Range> found_;
  std::shared_ptr<const rocksdb::SliceTransform> prefix_extractor_;
  std::vector<std::unique_ptr<Database>> databases_;
  SetResult result_;
};

}  // namespace

Results RunExperiment(const Effort& effort, uint64_t seed, const std::filesystem::path& dir,
                      Progress& progress) {
  const Stopwatch stopwatch;
  Results results;
  results.direct_reads = SupportsDirectReads(dir);
  for (const std::string& name : effort.filter_sets) {
    progress.Show(fmt::format("{}: the filter alone", name));
    const KeySet set = MakeKeySet(name, effort.filter_keys, seed);
    results.filters.push_back(
        MeasureFilter(set, DrawQuestions(set, effort.ranges, seed + 2), effort.filter_turns));
    const std::vector<FixedBytesResult> small = MeasureSmallFilters(set);
    results.small_filters.insert(results.small_filters.end(), small.begin(), small.end());
  }
  for (const std::string& name : effort.sets) {
    progress.Show(fmt::format("{}: drawing keys and ranges", name));
    const TempDir databases(dir);
    const KeySet set = MakeKeySet(name, effort.keys, seed);
    results.sets.push_back(SetExperiment(set, effort, seed, databases.path(), progress).Run());
  }
  const TempDir databases(dir);
  results.workloads = MeasureWorkloads(effort.workloads, databases.path(), progress);
  results.seconds = stopwatch.Seconds();
  return results;
}

}  // namespace blocksieve::bench::ranges
