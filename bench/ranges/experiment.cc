#include "bench/ranges/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <span>

#include "bench/ranges/range_database.h"
#include "bench/ranges/range_queries.h"
#include "bench/support/files.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::ranges {
namespace {

constexpr size_t kPrefixSample = 2'000;  // ranges of all lengths
constexpr size_t kMaxPrefixBytes = 40;
constexpr size_t kNumLengths = std::size(kLengths);

constexpr Role kOthers[] = {Role::kNoFilter, Role::kPrefixBloom, Role::kFirstKey};
constexpr Role kOthersPartitioned[] = {Role::kPointsPartitioned, Role::kPrefixBloomPartitioned};

std::vector<std::string> Sample(const std::vector<std::string>& all, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> some;
  for (size_t i = 0; i < count; ++i) some.push_back(all[random() % all.size()]);
  return some;
}

// The `turn`-th part of `ranges`. Each part has all lengths.
std::span<const Range> Part(const std::vector<Range>& ranges, size_t size, unsigned turn) {
  const size_t parts = std::max<size_t>(1, ranges.size() / size);
  return std::span(ranges).subspan(turn % parts * size).first(std::min(size, ranges.size()));
}

// A contestant and its measurements.
struct Entry {
  std::unique_ptr<RangeDatabase> database;
  double filter_bytes = 0;
  double refusals_per_file = 0;  // log messages that a file got no range filter
  std::vector<double> blocks;    // per seek in empty ranges, by kind of queries
  double mean_blocks = 0;        // over all lengths
  double blocks_of_one_key = 0;  // per seek in ranges of one key
  std::map<std::string, std::vector<double>> seconds;  // of one operation, by its name and turn
};

// Measures the databases of one key set.
class SetExperiment {
 public:
  SetExperiment(const KeySet& set, const Effort& effort, const std::filesystem::path& dir, Job& job)
      : set_(set),
        effort_(effort),
        dir_(dir),
        progress_(job.progress),
        results_(job.results),
        seed_(job.options.seed),
        runs_(RandomRuns(set.keys, seed_ + 1)),
        queries_(DrawQueries(set, effort.ranges, seed_ + 2)),
        mixed_(MixedLengths(queries_)),
        found_(DrawRangesOfOneKey(set, effort.ranges, seed_ + 9)) {}

  void Run() {
    Fill();
    CountBlocks();
    TimeSeeks();
    TimeLookups();
    TimeCold();
    AddRows();
    AddForm(Role::kRanges, Of(Role::kPoints), kOthers);
    AddForm(Role::kRangesPartitioned, Of(Role::kPointsPartitioned), kOthersPartitioned);
  }

 private:
  void Show(std::string_view what) { progress_.Show(fmt::format("{}: {}", set_.name, what)); }

  // The prefix length, one for ranges of all lengths, with which these read the fewest blocks.
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
      Entry& entry = entries_[i];
      entry.database =
          std::make_unique<RangeDatabase>(role, Prefixes{prefix_bytes}, dir_ / RoleName(role));
      entry.seconds["filling"] = entry.database->Fill(runs_);
      entry.filter_bytes = static_cast<double>(entry.database->Shape().filter_bytes);
      entry.refusals_per_file =
          static_cast<double>(entry.database->refusals()) / static_cast<double>(kRuns);
    }
  }

  // Calls `measure(entry, turn)` for each contestant that is measured.
  template <class IsMeasured, class Measure>
  void Each(unsigned turns, IsMeasured is_measured, Measure measure) {
    InTurns(turns, kNumRoles, [&](size_t i, unsigned turn) {
      if (is_measured(Role{static_cast<int>(i)})) measure(entries_[i], turn);
    });
  }

  void CountBlocks() {
    Show("counting");
    Each(1, MeasuresSeeks, [&](Entry& entry, unsigned) {
      for (const RangeQueries& queries : queries_) {
        entry.blocks.push_back(entry.database->CountBlocks(queries.ranges, 0));
      }
      const auto first = entry.blocks.begin();
      entry.mean_blocks = std::accumulate(first, first + kNumLengths, 0.0) / kNumLengths;
      entry.blocks_of_one_key = entry.database->CountBlocks(found_, 1);
    });
  }

  void TimeSeeks() {
    Show("timing seeks");
    Each(effort_.turns, MeasuresSeeks, [&](Entry& entry, unsigned turn) {
      entry.seconds["empty seek"].push_back(
          entry.database->TimeScans(Part(mixed_, effort_.timed_ranges, turn), 0));
      entry.seconds["seek of one key"].push_back(
          entry.database->TimeScans(Part(found_, effort_.timed_ranges / 4, turn), 1));
    });
  }

  void TimeLookups() {
    Show("timing lookups");
    Each(effort_.lookup_turns, MeasuresLookups, [&](Entry& entry, unsigned turn) {
      const uint64_t seed = seed_ + turn;  // the same keys for every contestant
      entry.seconds["hit"].push_back(
          entry.database->TimeGets(Sample(set_.keys, effort_.lookups, seed), true));
      entry.seconds["miss"].push_back(
          entry.database->TimeGets(Sample(set_.others, effort_.lookups, seed), false));
    });
  }

  void TimeCold() {
    Show("timing cold seeks");
    const auto is_measured = [](Role role) {
      return role == Role::kNoFilter || role == Role::kRanges;
    };
    Each(1, is_measured, [](Entry& entry, unsigned) { entry.database->Open(Reads::kCold); });
    Each(effort_.turns, is_measured, [&](Entry& entry, unsigned turn) {
      entry.seconds["empty seek, cold"].push_back(
          entry.database->TimeScans(Part(mixed_, effort_.cold_ranges, turn), 0));
    });
  }

  const Entry& Of(Role role) const { return entries_[static_cast<size_t>(role)]; }

  // The contestant with the smallest figure.
  template <class Figure>
  const Entry& Best(std::span<const Role> roles, Figure figure) const {
    return Of(*std::min_element(roles.begin(), roles.end(),
                                [&](Role a, Role b) { return figure(Of(a)) < figure(Of(b)); }));
  }

  double FewestBlocks() const {
    const auto blocks = [](const Entry& entry) { return entry.mean_blocks; };
    return blocks(Best(kOthers, blocks));
  }

  void AddRows() {
    for (size_t i = 0; i < kNumRoles; ++i) {
      const Role role{static_cast<int>(i)};
      const Entry& entry = entries_[i];
      auto rows = results_.Of(RoleName(role), {{"keys", set_.name}});
      rows.Add("filter bits per key", "",
               8 * entry.filter_bytes / static_cast<double>(set_.keys.size()));
      for (size_t query = 0; query < entry.blocks.size(); ++query) {
        results_.Of(RoleName(role), {{"keys", set_.name}, {"ranges", queries_[query].name}})
            .Add("data blocks", "", entry.blocks[query]);
      }
      if (MeasuresSeeks(role)) {
        rows.Add("data blocks, all lengths", "", entry.mean_blocks)
            .Add("data blocks, one key", "", entry.blocks_of_one_key);
      }
      for (const auto& [what, seconds] : entry.seconds) rows.AddTurns(what, "s", seconds);
    }
    // The best of stock RocksDB over all lengths.
    results_.Of("stock RocksDB", {{"keys", set_.name}})
        .Add("data blocks, all lengths", "", FewestBlocks());
  }

  // Compares a database with range filters with the others, and with the same point filters alone.
  void AddForm(Role role, const Entry& points, std::span<const Role> others) {
    const Entry& mine = Of(role);
    const Entry& fastest = Best(
        others, [](const Entry& entry) { return SpreadOf(entry.seconds.at("empty seek")).median; });
    auto rows = results_.Of(RoleName(role), {{"keys", set_.name}});
    const auto add_ratio = [&](const char* what, const char* seconds, const Entry& other) {
      rows.Add(what, "x", PairedRatio(mine.seconds.at(seconds), other.seconds.at(seconds)));
    };
    rows.Add("times fewer data blocks", "x", FewestBlocks() / mine.mean_blocks);
    add_ratio("empty seek, relative to the best other", "empty seek", fastest);
    add_ratio("point hit, relative to point filters", "hit", points);
    add_ratio("point miss, relative to point filters", "miss", points);
    // Databases are filled one after the other, so turns cannot be paired.
    rows.Add(
        "filling, relative to point filters", "x",
        Quotient(SpreadOf(mine.seconds.at("filling")), SpreadOf(points.seconds.at("filling"))));
    if (role == Role::kRanges) {
      add_ratio("empty seek, cold, relative to no filter", "empty seek, cold", Of(Role::kNoFilter));
    }
    if (mine.refusals_per_file > 0) {
      rows.Add("additional bytes", "bytes", mine.filter_bytes - points.filter_bytes)
          .Add("log messages per file", "", mine.refusals_per_file);
      add_ratio("empty seek, relative to no filter", "empty seek", Of(Role::kNoFilter));
    }
  }

  const KeySet& set_;
  const Effort& effort_;
  const std::filesystem::path dir_;
  Progress& progress_;
  Results& results_;
  const uint64_t seed_;
  const std::vector<SortedKeys> runs_;
  const std::vector<RangeQueries> queries_;
  const std::vector<Range> mixed_;
  const std::vector<Range> found_;
  Entry entries_[kNumRoles];  // by Role
};

}  // namespace

void RunExperiment(const Effort& effort, Job& job) {
  const uint64_t seed = job.options.seed;
  job.results.SetFact("runs", kRuns);
  for (const std::string& name : effort.sets) {
    job.progress.Show(fmt::format("{}: drawing keys and ranges", name));
    const TempDir databases(job.db_dir);
    const KeySet set = MakeKeySet(name, effort.keys, seed);
    SetExperiment(set, effort, databases.path(), job).Run();
  }
  for (const std::string& name : effort.filter_sets) {
    job.progress.Show(fmt::format("{}: the filter alone", name));
    const KeySet set = MakeKeySet(name, effort.filter_keys, seed);
    MeasureFilter(set, DrawQueries(set, effort.ranges, seed + 2), effort.filter_turns, job.results);
  }
  MeasurePrefixes(effort, job);
  MeasureWorkloads(effort, job);
}

}  // namespace blocksieve::bench::ranges
