// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/levels/column_family_levels.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "integration/rocksdb/levels/filter_budget.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using rocksdb::ColumnFamilyMetaData;
using rocksdb::SstFileMetaData;

/// Counts the keys of files. RocksDB reports 0 entries for files that it has not opened, or whose
/// statistics it was told not to read; their keys are estimated from their bytes.
class KeyCounter {
 public:
  explicit KeyCounter(const ColumnFamilyMetaData& column_family) {
    double entries = 0;
    double bytes = 0;
    for (const auto& level : column_family.levels) {
      for (const SstFileMetaData& file : level.files) {
        if (file.num_entries == 0) continue;
        entries += static_cast<double>(file.num_entries);
        bytes += static_cast<double>(file.size);
      }
    }
    if (bytes > 0) entries_per_byte_ = entries / bytes;
  }

  uint64_t Count(const SstFileMetaData& file) const {
    if (file.num_entries != 0) return file.num_entries;
    return static_cast<uint64_t>(std::round(entries_per_byte_ * static_cast<double>(file.size)));
  }

 private:
  double entries_per_byte_ = 0.01;  // if no file reports its entries
};

// Minimum samples of the most checked level. A share of 1/4 then has a standard error of 12 %.
constexpr double kMinSamples = 256;
// Above this, all samples are halved, so that changes show.
constexpr double kMaxSamples = 16 * kMinSamples;

// Pause after reading the sizes, in multiples of the time for that, as it holds the DB mutex.
constexpr int kPause = 50;
// Longer than reading ever takes; keeps other threads from reading the sizes meanwhile.
constexpr std::chrono::seconds kReading{10};

// Averages lookup shares over time: the levels of a growing tree are partly filled only for
// moments, but their filters are probed for longer.
void SmoothShares(const Levels& before, Levels* levels) {
  constexpr double kWeight = 1.0 / 8;  // weight of the current shares
  for (size_t i = 0; i < levels->size(); ++i) {
    double& share = (*levels)[i].lookup_share;
    share = kWeight * share + (1 - kWeight) * (i < before.size() ? before[i].lookup_share : 1);
  }
}

/// How often lookups check the levels of a column family, from RocksDB's samples: it counts one in
/// 1,024 reads of each file, in memory, whatever the filter answers. Not thread-safe.
class ReadSamples {
 public:
  /// Adds the reads since the last call, and returns those of the most checked level. Reads of
  /// files deleted since are lost, so call it when flushes and compactions begin.
  double Add(const rocksdb::ColumnFamilyMetaData& column_family) {
    std::map<uint64_t, uint64_t> counts;
    checked_.resize(std::max(checked_.size(), column_family.levels.size()));
    double most = 0;
    for (const auto& level : column_family.levels) {
      // Each file of level 0 is a run.
      const double runs = level.level == 0 ? static_cast<double>(level.files.size()) : 1;
      double& checked = checked_[static_cast<size_t>(level.level)];
      const double checked_before = checked;
      for (const auto& file : level.files) {
        const auto before = counts_.find(file.file_number);
        const uint64_t old = before == counts_.end() ? 0 : before->second;
        // RocksDB counts from 0 again when it opens the database.
        const uint64_t since = file.num_reads_sampled - std::min(old, file.num_reads_sampled);
        checked += static_cast<double>(since) / runs;
        counts[file.file_number] = file.num_reads_sampled;
      }
      most = std::max(most, checked - checked_before);
    }
    counts_ = std::move(counts);
    if (!checked_.empty() && *std::max_element(checked_.begin(), checked_.end()) > kMaxSamples) {
      for (double& checked : checked_) checked /= 2;
    }
    return most;
  }

  /// Sets the lookup share of each level relative to the most checked level; level 0 is averaged
  /// over its files. Does nothing while there are too few samples.
  void SetShares(Levels* levels) const {
    const double max = checked_.empty() ? 0 : *std::max_element(checked_.begin(), checked_.end());
    if (max < kMinSamples) return;
    for (size_t i = 0; i < std::min(levels->size(), checked_.size()); ++i) {
      (*levels)[i].lookup_share = checked_[i] / max;
    }
  }

 private:
  std::map<uint64_t, uint64_t> counts_;  // by file number
  std::vector<double> checked_;          // recent samples, by level
};

using Clock = std::chrono::steady_clock;
using ByColumnFamily = std::map<std::string, Levels>;

// A policy learns no more of a column family than its name.
struct DatabaseLevels {
  ByColumnFamily levels;
  std::map<std::string, ReadSamples> samples;
  // Ids of the column families that the levels are of. RefreshLevels writes one at the first flush
  // or compaction of the family, at which the listener explains its carrier in the info log. They
  // are cleared with the database, or after the family was dropped.
  std::map<std::string, uint32_t> ids;
  Clock::time_point next_refresh;  // earliest time to read the sizes again
  size_t num_files = 0;            // when they were read
};

struct Registry {
  std::mutex mutex;
  OpenDatabases<DatabaseLevels> databases;
};

Registry& Registered() {
  // Never destroyed: databases may be closed while static destructors run.
  static auto& registry = *new Registry;
  return registry;
}

}  // namespace

Tree BuildTree(const ColumnFamilyMetaData& column_family) {
  const KeyCounter counter(column_family);
  std::vector<TreeFile> files;
  for (const auto& level : column_family.levels) {
    for (const SstFileMetaData& file : level.files) {
      files.push_back({.level = level.level,
                       .num_keys = counter.Count(file),
                       .smallest = file.smallestkey,
                       .largest = file.largestkey});
    }
  }
  Tree tree(std::move(files), column_family.name);
  tree.SetKeyRanges();
  return tree;
}

Levels ReadLevels(const ColumnFamilyMetaData& column_family,
                  const rocksdb::CompactionJobInfo* compaction) {
  Levels current = BuildTree(column_family).ToLevels();
  current.resize(std::max(current.size(), column_family.levels.size()), {.num_runs = 0});
  if (compaction == nullptr || compaction->cf_name != column_family.name) return current;
  std::set<uint64_t> inputs;
  for (const auto& file : compaction->input_file_infos) inputs.insert(file.file_number);
  const KeyCounter counter(column_family);
  Levels levels = current;
  double moved_keys = 0;
  size_t num_moved = 0;
  for (const auto& level : column_family.levels) {
    TreeLevel& shape = levels[static_cast<size_t>(level.level)];
    for (const SstFileMetaData& file : level.files) {
      if (!inputs.contains(file.file_number)) continue;
      ++num_moved;
      const auto num_keys = static_cast<double>(counter.Count(file));
      moved_keys += num_keys;
      level.level == 0 ? --shape.num_runs : shape.keys_per_run -= num_keys;
    }
    if (shape.num_keys() == 0) shape = {.num_runs = 0};
  }
  // A column family that was dropped meanwhile may have a successor of its name, with other files
  // and perhaps fewer levels. RocksDB gives the id of the compaction's, but not of this one;
  // numbers of files are as unique.
  const auto output_level = static_cast<size_t>(compaction->output_level);
  if (num_moved != inputs.size() || output_level >= levels.size()) return current;
  if (output_level == 0) return current;
  TreeLevel& output = levels[output_level];
  output.num_runs = 1;
  output.keys_per_run += moved_keys;
  ExpectFewKeysOnLevel0(&levels);
  return levels;
}

void ReplaceLevels(const OpenDatabase& database, const std::string& family, Levels levels) {
  const std::lock_guard lock(Registered().mutex);
  Registered().databases[database].levels[family] = std::move(levels);
}

std::optional<Levels> KnownLevels(const ColumnFamilyKey& column_family) {
  const std::lock_guard lock(Registered().mutex);
  // Without a name, the database of the log that flushed or compacted last.
  for (const auto& [database, state] : Registered().databases) {
    if (database.log_address != column_family.info_log || database.is_closed()) continue;
    if (!column_family.database.empty() && database.name != column_family.database) continue;
    const auto found = state.levels.find(column_family.family);
    if (found != state.levels.end()) return found->second;
  }
  return std::nullopt;
}

bool RefreshLevels(rocksdb::DB* db, const FamilyId& family,
                   const rocksdb::CompactionJobInfo* compaction) {
  const OpenDatabase database(db);
  const Clock::time_point start = Clock::now();
  std::map<std::string, ReadSamples> samples;
  ByColumnFamily before;
  bool is_new = false;
  {
    const std::lock_guard lock(Registered().mutex);
    DatabaseLevels& state = Registered().databases[database];
    const auto [known_id, is_added] = state.ids.try_emplace(family.name, family.id);
    is_new = is_added;
    if (std::exchange(known_id->second, family.id) != family.id) {
      is_new = true;
      // It was dropped, and another one has its name.
      state.levels.erase(family.name);
      state.samples.erase(family.name);
    }
    // A compaction of most files makes a new tree, and takes far longer than to read the old one.
    const bool is_large =
        compaction != nullptr && 2 * compaction->input_file_infos.size() >= state.num_files;
    if (state.next_refresh > start && !is_large) return is_new;
    state.next_refresh = start + kReading;
    samples.swap(state.samples);
    before = state.levels;
  }
  const uint64_t since = FamilyAccount::Now();
  std::vector<rocksdb::ColumnFamilyMetaData> column_families;
  db->GetAllColumnFamilyMetaData(&column_families);
  ByColumnFamily current;
  std::map<std::string, double> lookups;
  size_t num_files = 0;
  for (const auto& column_family : column_families) {
    for (const auto& level : column_family.levels) num_files += level.files.size();
    Levels levels = ReadLevels(column_family, compaction);
    ReadSamples& read = samples[column_family.name];
    lookups[column_family.name] = read.Add(column_family);
    const auto known = before.find(column_family.name);
    if (known != before.end() && !known->second.empty()) {
      SmoothShares(known->second, &levels);
      // Level 0 is often empty at this moment, but not while its filters are probed.
      if (levels[0].keys_per_run == 0) levels[0] = known->second[0];
    }
    read.SetShares(&levels);
    current[column_family.name] = std::move(levels);
  }
  UpdateAccounts(db, database, column_families, since, current, lookups);
  std::erase_if(samples, [&](const auto& entry) { return !current.contains(entry.first); });
  const Clock::time_point end = Clock::now();
  const std::lock_guard lock(Registered().mutex);
  DatabaseLevels& state = Registered().databases[database];
  std::erase_if(state.ids, [&](const auto& entry) { return !current.contains(entry.first); });
  state = {std::move(current), std::move(samples), std::move(state.ids),
           end + kPause * (end - start), num_files};
  return is_new;
}

}  // namespace blocksieve::rocksdb_plugin
