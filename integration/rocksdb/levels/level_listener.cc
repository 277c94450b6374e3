#include "integration/rocksdb/levels/level_listener.h"

#include <rocksdb/db.h>

#include "integration/rocksdb/levels/column_family_levels.h"
#include "integration/rocksdb/levels/known_levels.h"

namespace blocksieve::rocksdb_plugin {
namespace {

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

void LevelListener::OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo&) {
  Refresh(db, nullptr);
}

void LevelListener::OnCompactionBegin(rocksdb::DB* db,
                                      const rocksdb::CompactionJobInfo& compaction) {
  Refresh(db, &compaction);
}

void LevelListener::Refresh(rocksdb::DB* db, const rocksdb::CompactionJobInfo* compaction) {
  const std::shared_ptr<const rocksdb::Logger> database = db->GetDBOptions().info_log;
  const Clock::time_point start = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(next_refresh_, [](const auto& entry) { return entry.first.expired(); });
    Clock::time_point& next = next_refresh_[database];
    if (next > start) return;
    next = start + kReading;
  }
  std::vector<rocksdb::ColumnFamilyMetaData> column_families;
  db->GetAllColumnFamilyMetaData(&column_families);
  KnownLevels::ByColumnFamily known;
  std::map<std::string, ReadSamples> samples;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(samples_, [](const auto& entry) { return entry.first.expired(); });
    samples.swap(samples_[database]);
  }
  for (const auto& column_family : column_families) {
    lsm::Levels levels = LevelsOf(column_family, compaction);
    ReadSamples& read = samples[column_family.name];
    read.Note(column_family);
    if (const auto before = KnownLevels::Instance().Get({database.get(), column_family.name})) {
      SmoothShares(*before, &levels);
      // Level 0 is often empty at this moment, but not while its filters are probed.
      if (levels[0].keys_per_run == 0) levels[0] = (*before)[0];
    }
    read.SetShares(&levels);
    known[column_family.name] = std::move(levels);
  }
  KnownLevels::Instance().Set(database, std::move(known));
  const Clock::time_point end = Clock::now();
  const std::lock_guard lock(mutex_);
  samples_[database] = std::move(samples);
  next_refresh_[database] = end + kPause * (end - start);
}

}  // namespace blocksieve::rocksdb_plugin
