#include "integration/rocksdb/levels/level_observer.h"

#include <rocksdb/db.h>

#include <algorithm>

#include "integration/rocksdb/levels/column_family_levels.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Samples of the level that is checked most: one standard error of a share of a quarter is then 12
// %.
constexpr double kMinSamples = 256;
// Old samples are forgotten by halves, so that a change shows.
constexpr double kMaxSamples = 16 * kMinSamples;

// Reading the sizes holds the database's mutex, so it may take one part in so many of the time.
constexpr int kPause = 50;
// Longer than reading ever takes, to keep other threads from reading them meanwhile.
constexpr std::chrono::seconds kReading{10};

// The levels of a growing tree are partly filled only for moments, but their filters are probed for
// longer.
void SmoothShares(const lsm::Levels& before, lsm::Levels* levels) {
  constexpr double kWeight = 1.0 / 8;  // of the current shares
  for (size_t i = 0; i < levels->size(); ++i) {
    double& share = (*levels)[i].lookup_share;
    share = kWeight * share + (1 - kWeight) * (i < before.size() ? before[i].lookup_share : 1);
  }
}

}  // namespace

void ReadSamples::Note(const rocksdb::ColumnFamilyMetaData& column_family) {
  std::map<uint64_t, uint64_t> counts;
  checked_.resize(std::max(checked_.size(), column_family.levels.size()));
  for (const auto& level : column_family.levels) {
    // Each file of level 0 is a run.
    const double runs = level.level == 0 ? static_cast<double>(level.files.size()) : 1;
    for (const auto& file : level.files) {
      const auto before = counts_.find(file.file_number);
      const uint64_t old = before == counts_.end() ? 0 : before->second;
      // It is counted from 0 again when RocksDB opens the database.
      const uint64_t since = file.num_reads_sampled - std::min(old, file.num_reads_sampled);
      checked_[static_cast<size_t>(level.level)] += static_cast<double>(since) / runs;
      counts[file.file_number] = file.num_reads_sampled;
    }
  }
  counts_ = std::move(counts);
  if (checked_.empty() || *std::max_element(checked_.begin(), checked_.end()) <= kMaxSamples)
    return;
  for (double& checked : checked_) checked /= 2;
}

void ReadSamples::SetShares(lsm::Levels* levels) const {
  const double most = checked_.empty() ? 0 : *std::max_element(checked_.begin(), checked_.end());
  if (most < kMinSamples) return;
  for (size_t i = 0; i < std::min(levels->size(), checked_.size()); ++i) {
    (*levels)[i].lookup_share = checked_[i] / most;
  }
}

void LevelObserver::Refresh(rocksdb::DB* db, const rocksdb::CompactionJobInfo* compaction) {
  const std::shared_ptr<const rocksdb::Logger> log = db->GetDBOptions().info_log;
  const Clock::time_point start = Clock::now();
  std::map<std::string, ReadSamples> samples;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(databases_, [](const auto& entry) { return entry.first.expired(); });
    Database& database = databases_[log];
    if (database.next_refresh > start) return;
    database.next_refresh = start + kReading;
    samples.swap(database.samples);
  }
  std::vector<rocksdb::ColumnFamilyMetaData> column_families;
  db->GetAllColumnFamilyMetaData(&column_families);
  KnownLevels::ByColumnFamily known;
  for (const auto& column_family : column_families) {
    lsm::Levels levels = LevelsOf(column_family, compaction);
    ReadSamples& read = samples[column_family.name];
    read.Note(column_family);
    if (const auto before = KnownLevels::Instance().Get({log.get(), column_family.name})) {
      SmoothShares(*before, &levels);
      // Level 0 is often empty at this moment, but not while its filters are probed.
      if (levels[0].keys_per_run == 0) levels[0] = (*before)[0];
    }
    read.SetShares(&levels);
    known[column_family.name] = std::move(levels);
  }
  KnownLevels::Instance().Set(log, std::move(known));
  const Clock::time_point end = Clock::now();
  const std::lock_guard lock(mutex_);
  databases_[log] = {end + kPause * (end - start), std::move(samples)};
}

}  // namespace blocksieve::rocksdb_plugin
