// SPDX-License-Identifier: Apache-2.0
#include "bench/ranges/experiment.h"

#include <algorithm>
#include <map>

#include "bench/ranges/database.h"

namespace blocksieve::bench::ranges {
namespace {

// The most bits per key of prefixes above the point filter, and the most data blocks per seek.
struct PrefixLimits {
  double bits;
  double blocks;
};
const std::map<std::string, PrefixLimits> kPrefixLimits = {
    {"paths", {3, 0.1}},
    {"paths, one level", {1, 0.1}},
    {"account:user:event", {0.3, 0.1}},
    {"members of hashes", {1.5, 1.1}},
    {"16 random bytes", {0, 0}},
};

// A contestant and its measurements.
struct Entry {
  Role role;
  std::unique_ptr<RangeDatabase> database = {};
  double filter_bytes = 0;
  double file_bytes = 0;
  double filling = 0;
  std::vector<double> hits = {}, misses = {};  // seconds per lookup, by turn
};

// Measures the databases of one set of keys.
class Experiment {
 public:
  Experiment(const Dataset& dataset, const Effort& effort, Job& job)
      : dataset_(dataset), effort_(effort), job_(job), dir_(job.db_dir) {
    const PrefixRule rule = BestRule(dataset);
    for (const Role role : RolesFor(dataset)) {
      job.progress.Show(fmt::format("{}: filling, {}", dataset.name, RoleName(role)));
      Entry& entry = entries_.emplace_back(Entry{role});
      entry.database = std::make_unique<RangeDatabase>(role, rule, dir_.path() / RoleName(role));
      entry.filling = entry.database->Fill(dataset);
      entry.filter_bytes = static_cast<double>(entry.database->Shape().filter_bytes);
      entry.file_bytes = static_cast<double>(entry.database->FileBytes());
    }
  }

  void Run() {
    job_.progress.Show(dataset_.name + ": seeks and lookups");
    for (const Seeks& seeks : dataset_.seeks) MeasureSeeks(seeks);
    TimeLookups();
    const Entry& points = Of(Role::kPoints);
    for (const Entry& entry : entries_) {
      const auto bits = [&](double bytes) { return 8 * bytes / double(num_keys_); };
      const auto limits = kPrefixLimits.find(dataset_.name);
      const bool has_prefix_limits = limits != kPrefixLimits.end() && entry.role == Role::kPrefixes;
      const bool is_refused = entry.role == Role::kRanges && dataset_.name == "paths";
      const bool is_main =
          entry.role == (dataset_.prefixes.empty() ? Role::kRanges : Role::kPrefixes);
      const Target lookup_limit = is_main ? NotAbove(1.05) : Target{};
      Line& line = job_.results.In("Filters, writing and lookups",
                                   "Keys")[dataset_.name + ", " + RoleName(entry.role)];
      line.Add("bits per key", "bits", bits(entry.filter_bytes))
          .Add("writing, relative to point filters", "x", entry.filling / points.filling)
          .Add("files, relative to point filters", "x", entry.file_bytes / points.file_bytes)
          .Add("peak memory of opening per key", "bytes",
               bits(entry.database->opening_bytes()) / 8);
      if (!HasRanges(entry.role)) continue;
      line.Add("bits per key above the point filter", "",
               bits(entry.filter_bytes - points.filter_bytes),
               is_refused          ? NotAbove(0)
               : has_prefix_limits ? NotAbove(limits->second.bits)
                                   : Target{})
          .Add("present key, relative to point filters", "x", PairedRatio(entry.hits, points.hits),
               lookup_limit)
          .Add("absent key, relative to point filters", "x",
               PairedRatio(entry.misses, points.misses), lookup_limit);
    }
  }

 private:
  Entry& Of(Role role) {
    return *std::find_if(entries_.begin(), entries_.end(),
                         [&](const Entry& each) { return each.role == role; });
  }

  Target BlocksLimit(Role role) const {
    if (role == Role::kRanges && dataset_.prefixes.empty()) return NotAbove(0.15);
    const auto limits = kPrefixLimits.find(dataset_.name);
    return role == Role::kPrefixes && limits != kPrefixLimits.end()
               ? NotAbove(limits->second.blocks)
               : Target{};
  }

  // Point filters alone do not change seeks.
  void MeasureSeeks(const Seeks& seeks) {
    const bool is_first = &seeks == dataset_.seeks.data();
    const std::string name = dataset_.name + ", " + seeks.name;
    Line& blocks_line = job_.results.In(
        "Data blocks per seek", "Keys, ranges",
        "Stock prefix Bloom: its prefixes have the length, or end at the boundary, that reads the "
        "fewest blocks. Stock segment bounds: SstQueryFilterConfigs, which RocksDB has from 9.0 "
        "on. Integers: “0.01 keys” are empty ranges as long as those that hold 0.01 keys on "
        "average. Paths: 8 random runs, or 8 files of one level. account:user:event: 25 accounts, "
        "500 events of each user. Members: 8 in each hash, keys as in Kvrocks; 90 % in one run, "
        "the others in 7 small ones.")[name];
    std::map<Role, double> blocks;
    std::map<Role, std::vector<double>> seconds;
    for (const Entry& entry : entries_) {
      if (entry.role == Role::kPoints) continue;
      blocks[entry.role] = entry.database->CountBlocks(seeks);
      blocks_line.Add(RoleName(entry.role), "", blocks[entry.role],
                      is_first ? BlocksLimit(entry.role) : Target{});
    }
    if (kHasBlockIndexes && is_first) {
      Line& line = job_.results.In("Data blocks per range of a MultiScan", "Keys, ranges",
                                   "50 ranges at a time, which overlap no other.")[name];
      for (const Role role : {Role::kNoFilter, Role::kBlockIndex}) {
        line.Add(RoleName(role), "", Of(role).database->CountMultiScanBlocks(seeks));
      }
    }
    InTurns(effort_.turns, entries_.size(), [&](size_t i, unsigned) {
      if (entries_[i].role == Role::kPoints) return;
      seconds[entries_[i].role].push_back(entries_[i].database->TimeSeeks(seeks));
    });
    Line& time_line = job_.results.In("Time per seek, cached", "Keys, ranges")[name];
    for (const auto& [role, turns] : seconds) time_line.Add(RoleName(role), "s", turns);
    if (is_first && dataset_.prefixes.empty()) AddHeadline(blocks, seconds);
  }

  void AddHeadline(const std::map<Role, double>& blocks,
                   const std::map<Role, std::vector<double>>& seconds) {
    const auto best = [](const auto& figure) {
      return std::min(
          {figure(Role::kNoFilter), figure(Role::kPrefixBloom), figure(Role::kFirstKey)});
    };
    const double ours = blocks.at(Role::kRanges);
    const double stock = best([&](Role role) { return blocks.at(role); });
    const double stock_seconds = best([&](Role role) { return SpreadOf(seconds.at(role)).median; });
    job_.results.In("Range filters against the best of stock RocksDB")[dataset_.name]
        .Add("times fewer data blocks", "x", stock / ours, NotBelow(25))
        .Add("time", "x", SpreadOf(seconds.at(Role::kRanges)).median / stock_seconds,
             NotAbove(0.3));
    job_.results.headline = fmt::format(
        "{:.3g} times fewer data blocks read by a seek in an empty range: {:.3g} without a filter, "
        "{:.3g} with the best of RocksDB's own, {:.3g} with range filters; {}.",
        stock / ours, blocks.at(Role::kNoFilter), stock, ours, dataset_.name);
  }

  void TimeLookups() {
    Random random(job_.options.seed);
    std::vector<std::string> present, absent;
    while (absent.size() < effort_.lookups) {
      const SortedKeys& run = dataset_.runs[random() % dataset_.runs.size()];
      present.push_back(run[random() % run.size()]);
      absent.push_back(present.back());
      absent.back().insert(absent.back().size() - 1, "~");
    }
    InTurns(effort_.lookup_turns, entries_.size(), [&](size_t i, unsigned) {
      Entry& entry = entries_[i];
      if (entry.role < Role::kPoints) return;
      entry.hits.push_back(entry.database->TimeGets(present, true));
      entry.misses.push_back(entry.database->TimeGets(absent, false));
    });
  }

  const Dataset& dataset_;
  const Effort& effort_;
  Job& job_;
  const TempDir dir_;
  const size_t num_keys_ = dataset_.AllKeys().size();
  std::vector<Entry> entries_;
};

}  // namespace

void RunExperiment(const Effort& effort, Job& job) {
  job.results.title = "Seeks with an upper bound in RocksDB";
  job.results.lead = fmt::format(
      "Range filters rule out files without a key in the range of a seek; prefix filters, those "
      "without its prefix. Databases have {} sorted runs, most spread over the whole key range. "
      "Data blocks: read or found in the block cache, as counted by RocksDB. Times: processor "
      "time; cold: wall-clock time without a block cache, {}, with filters and indexes in memory. "
      "Points: without range filters.",
      kRuns, job.cold_reads);
  job.progress.Show("drawing keys and seeks");
  const uint64_t seed = job.options.seed;
  std::vector<Dataset> sets = StructuredKeys(effort.structured_keys, effort.seeks, seed);
  sets.insert(sets.begin(), Integers(effort.keys, effort.seeks, seed));
  for (const Dataset& set : sets) {
    Experiment(set, effort, job).Run();
    MeasureFilters(set, effort, job);
  }
  MeasureWorkload(effort, job);
}

}  // namespace blocksieve::bench::ranges
