// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "bench/read_amp/contestants.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::read_amp {
namespace {

// RocksDB's defaults: level0_file_num_compaction_trigger, level 1 as large as this many level-0
// files (4 x 64 MB = 256 MB), and max_bytes_for_level_multiplier.
constexpr size_t kLevel0Files = 4;
constexpr size_t kLevelRatio = 10;

enum class Keys { kAbsent, kPresent };

// The length of a pass of lookups.
struct Pass {
  uint64_t lookups = 0;
  double seconds = 0;
};

// A database for lookups: fill, open, look up. A wrong answer throws Failure.
class LookupDatabase : public Database {
 public:
  // `rows` must outlive this.
  LookupDatabase(const Contestant& contestant, const Rows& rows, std::filesystem::path path)
      : Database(contestant, rows.num_bytes(), std::move(path)), rows_(rows) {}

  // Puts all rows, in the given order, into a new database, and builds a tree of the shape that
  // RocksDB's default options lead to: four files on level 0, as many rows on level 1, and ten
  // times as many on level 2. Returns seconds.
  double Fill(std::span<const uint32_t> order) {
    Open(Reads::kCached);
    const size_t level0_file_rows = order.size() / (kLevel0Files * (1 + 1 + kLevelRatio));
    const size_t level1_rows = kLevel0Files * level0_file_rows;
    const auto take = [&order](size_t count) {
      const auto first = order.first(count);
      order = order.subspan(count);
      return first;
    };
    const Stopwatch stopwatch;
    FillLevel(rows_, take(order.size() - 2 * level1_rows), 2);
    FillLevel(rows_, take(level1_rows), 1);
    for (size_t file = 0; file < kLevel0Files; ++file) PutAndFlush(rows_, take(level0_file_rows));
    return stopwatch.Seconds();
  }

  // Looks up every row and compares its value. Warms the cache. REQUIRES: open.
  void VerifyAllRows() {
    for (size_t row = 0; row < rows_.size(); ++row) {
      if (row % 4'096 == 0) CheckInterrupt();
      CheckGet(rows_.key(row), rows_.value(row));
    }
  }

  // Looks up keys of one kind, in order, all or for `max_seconds`, but at least 100 keys. With
  // `counters`, adds RocksDB's counts; without, RocksDB counts nothing. REQUIRES: open.
  Pass LookUp(const LookupKeys& keys, Keys kind, double max_seconds, Counters* counters) {
    // Lookups between two readings of the clock: enough for these not to slow lookups of 2 us.
    constexpr size_t kBatch = 100;
    const size_t num_keys = kind == Keys::kPresent ? keys.present.size() : keys.absent.size();
    std::optional<CounterWindow> window;
    if (counters != nullptr) window.emplace(statistics());
    const Stopwatch stopwatch;
    Pass pass;
    while (pass.lookups < num_keys && pass.seconds < max_seconds) {
      CheckInterrupt();
      for (const size_t end = std::min(pass.lookups + kBatch, num_keys); pass.lookups < end;) {
        const size_t next = pass.lookups++;
        if (kind == Keys::kPresent) {
          CheckGet(rows_.key(keys.present[next]), rows_.value(keys.present[next]));
        } else {
          CheckGet(keys.absent[next], std::nullopt);
        }
      }
      pass.seconds = stopwatch.Seconds();
    }
    if (counters != nullptr) {
      const Counters counted = window->Stop();
      CheckCounters(counted, kind, pass);
      *counters += counted;
    }
    return pass;
  }

 private:
  // Index and filter blocks are in the table readers' memory: every block read is a data block.
  void CheckCounters(const Counters& counted, Keys kind, const Pass& pass) const {
    if (counted.lookups != pass.lookups ||
        counted.found != (kind == Keys::kPresent ? pass.lookups : 0) ||
        counted.blocks_read != counted.data_blocks_read) {
      Fail(
          "{}: after {} lookups of {} keys RocksDB counted {}, {} of them found in files; {} data "
          "blocks read by its tickers, {} by its perf context",
          name(), pass.lookups, kind == Keys::kPresent ? "present" : "absent", counted.lookups,
          counted.found, counted.data_blocks_read, counted.blocks_read);
    }
  }

  const Rows& rows_;
};

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// Measurements of one kind of lookup on one tree, cold or cached.
struct Lookups {
  Counters counters;               // summed over the rounds
  std::vector<double> per_second;  // by timed pass

  double PerLookup(uint64_t count) const { return Ratio(count, counters.lookups); }
};

struct Measured {
  LookupContestant contestant;
  TreeShape shape = {};
  std::map<Keys, Lookups> cold = {}, cached = {};
  std::vector<double> fill_seconds = {};  // by round
};

constexpr Keys kKinds[] = {Keys::kAbsent, Keys::kPresent};

void AddRate(const Pass& pass, Lookups& lookups) {
  lookups.per_second.push_back(Ratio(pass.lookups, pass.seconds));
}

// A filter that answers "may match" to every probe gives no wrong answer: only this check finds it.
void CheckFilters(const Measured& tree) {
  const LookupContestant& contestant = tree.contestant;
  const bool has_filter = contestant.role != "no_filter";
  if (tree.shape.num_filters != (has_filter ? tree.shape.num_files : 0)) {
    Fail("{}: {} of {} files have a filter", contestant.name, tree.shape.num_filters,
         tree.shape.num_files);
  }
  if (has_filter && (tree.cold.at(Keys::kAbsent).counters.filter_negatives == 0 ||
                     tree.cached.at(Keys::kAbsent).counters.filter_negatives == 0)) {
    Fail("{}: the filters never said no in lookups of absent keys", contestant.name);
  }
}

void MeasureTree(LookupDatabase& database, const LookupKeys& keys, const Effort& effort,
                 Measured& tree) {
  // Cold passes are slow, so they are counted and timed at once: counting takes only nanoseconds.
  database.Open(Reads::kCold);
  for (const Keys kind : kKinds) {
    Lookups& lookups = tree.cold[kind];
    AddRate(database.LookUp(keys, kind, effort.max_cold_seconds, &lookups.counters), lookups);
  }
  // Cached passes are counted first, then timed without counting. Verifying warms the cache.
  database.Open(Reads::kCached);
  tree.shape = database.Shape();
  database.VerifyAllRows();
  for (unsigned pass = 0; pass <= effort.timed_warm_passes; ++pass) {
    for (const Keys kind : kKinds) {
      Lookups& lookups = tree.cached[kind];
      const bool is_counted = pass == 0;
      const Pass done =
          database.LookUp(keys, kind, kNoLimit, is_counted ? &lookups.counters : nullptr);
      if (!is_counted) AddRate(done, lookups);
    }
  }
  CheckFilters(tree);
}

// The comparison is only fair if every contestant has the same rows in the same places.
void CheckSameTrees(const std::vector<Measured>& all, uint64_t num_rows) {
  for (const Measured& each : all) {
    if (each.shape.num_entries != num_rows) {
      Fail("{}: the tree has {} entries for {} rows", each.contestant.name, each.shape.num_entries,
           num_rows);
    }
    if (each.shape.levels != all.front().shape.levels) {
      Fail("{} and {}: the trees differ in files or entries per level", all.front().contestant.name,
           each.contestant.name);
    }
  }
}

// With the 95 % confidence interval of a proportion; if none was seen, below 3 in n.
Spread MeasuredFpr(const Counters& counters) {
  const auto probes = static_cast<double>(counters.absent_probes());
  const double fpr = counters.fpr();
  const double error = fpr == 0 ? 3 / probes : 1.96 * std::sqrt(fpr * (1 - fpr) / probes);
  return {fpr, std::max(0.0, fpr - error), fpr + error, counters.absent_probes()};
}

std::string DescribeLevels(const TreeShape& shape) {
  std::string text = "rows (files)";
  for (const LevelShape& level : shape.levels) {
    text += fmt::format(" L{} {} ({})", level.level, level.num_entries, level.num_files);
  }
  return text;
}

void AddTree(const Measured& tree, Results& results) {
  const LookupContestant& contestant = tree.contestant;
  Line& sizes = results.In("Sizes and data blocks per lookup", "Filters")[contestant.name];
  Line& speeds = results.In("Lookups per second", "Filters")[contestant.name];
  sizes.Add("filter size", "bytes", tree.shape.filter_bytes)
      .Add("filter bits per key", "bits",
           Ratio(8 * tree.shape.filter_bytes, tree.shape.num_entries));
  if (contestant.role != "no_filter") {
    sizes.Add("measured FPR", "share", MeasuredFpr(tree.cached.at(Keys::kAbsent).counters));
  }
  for (const Keys kind : kKinds) {
    for (const auto& [reads, all] : {std::pair("cold", &tree.cold), {"cached", &tree.cached}}) {
      const Lookups& lookups = all->at(kind);
      const std::string column =
          fmt::format("{} keys: {}", kind == Keys::kAbsent ? "absent" : "present", reads);
      sizes.Add(column, "", lookups.PerLookup(lookups.counters.data_blocks()));
      speeds.Add(column, "", lookups.per_second);
    }
  }
  speeds.Add("time to fill", "s", tree.fill_seconds);
}

// Savings of blocksieve's filter of the target FPR, the smaller one of two.
void AddSavings(const std::vector<Measured>& all, Results& results) {
  const auto of_role = [&](std::string_view role) -> const Measured& {
    return *std::find_if(all.rbegin(), all.rend(),
                         [&](const Measured& each) { return each.contestant.role == role; });
  };
  const auto size_relative_to = [&](std::string_view other) {
    return Ratio(of_role("blocksieve").shape.filter_bytes, of_role(other).shape.filter_bytes);
  };
  const auto absent = [&](std::string_view role) { return of_role(role).cold.at(Keys::kAbsent); };
  const auto wasted = [&](std::string_view role) {
    return absent(role).PerLookup(absent(role).counters.data_blocks());
  };
  results.In("Savings")[of_role("blocksieve").contestant.name]
      .Add("reads saved", "share", 1 - wasted("blocksieve") / wasted("no_filter"))
      .Add("times as fast as without, cold", "x",
           PairedRatio(absent("blocksieve").per_second, absent("no_filter").per_second))
      .Add("size, relative to stock Bloom", "x", size_relative_to("stock_bloom"))
      .Add("size, relative to stock Ribbon", "x", size_relative_to("stock_ribbon"));
  results.headline = fmt::format(
      "Wasted data blocks per lookup of an absent key, all in the memory of stock Bloom of 10 bits "
      "per key: {:.3g} without a filter, {:.3g} with stock Bloom, {:.3g} with stock Ribbon, {:.3g} "
      "with blocksieve's ribbon of one rate, {:.3g} with its rates by level.",
      wasted("no_filter"), wasted("stock_default"), wasted("ribbon_in_memory"),
      wasted("same_memory"), wasted("by_level"));
}

}  // namespace

void RunExperiment(const Input& input, double target_fpr, const Effort& effort, Job& job) {
  const Stopwatch stopwatch;
  const uint64_t seed = job.options.seed;
  std::vector<Measured> all;
  for (LookupContestant& contestant : MakeContestants(target_fpr)) {
    all.push_back({std::move(contestant)});
  }
  // Shuffled, so that every file covers the whole range of keys, as with most workloads; in key
  // order files would not overlap and no lookup would meet more than one.
  const std::vector<uint32_t> order = RandomOrder(input.rows.size(), seed);
  double longest_round = 0;
  unsigned round = 0;
  for (; round < effort.rounds; ++round) {
    const double round_start = stopwatch.Seconds();
    if (round > 0 && effort.no_new_round_after > 0 &&
        round_start + longest_round > effort.no_new_round_after) {
      break;
    }
    job.progress.Show("choosing keys to look up");
    const LookupKeys keys = DrawLookupKeys(input.rows, effort.lookups, seed + 1 + round);
    for (size_t i = 0; i < all.size(); ++i) {
      Measured& measured = all[(i + round) % all.size()];
      job.progress.Show(fmt::format("round {} of at most {}, {} of {}: {}", round + 1,
                                    effort.rounds, i + 1, all.size(), measured.contestant.name));
      const TempDir dir(job.db_dir);
      LookupDatabase database(measured.contestant, input.rows, dir.path());
      measured.fill_seconds.push_back(database.Fill(order));
      MeasureTree(database, keys, effort, measured);
    }
    CheckSameTrees(all, input.rows.size());
    longest_round = std::max(longest_round, stopwatch.Seconds() - round_start);
  }
  Results& results = job.results;
  results.title = "Lookups in RocksDB";
  results.lead = fmt::format(
      "Lookups of absent and of present keys. Stock: RocksDB's own filters. Data blocks: blocks of "
      "4 KiB read per lookup, as counted by RocksDB. Cold: every block is read {}. Cached: from a "
      "block cache of half the memory. Filters and indexes are always in memory. FPR: the "
      "false-positive rate of cached lookups, with its 95 % confidence interval.\n"
      "Input: {} Target FPR: {:g} %. Rounds: {}. Tree: {}, as RocksDB's default options make it.",
      job.cold_reads, input.description, 100 * target_fpr, round,
      DescribeLevels(all.front().shape));
  for (const Measured& each : all) AddTree(each, results);
  AddSavings(all, results);
}

}  // namespace blocksieve::bench::read_amp
