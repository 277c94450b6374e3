#include "integration/rocksdb/levels/level_listener.h"

#include <rocksdb/db.h>

#include <set>

#include "integration/rocksdb/levels/known_shapes.h"
#include "integration/rocksdb/levels/run_shares.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Reading the sizes holds the database's mutex, so it may take one part in so many of the time.
constexpr int kPause = 50;
// Longer than reading ever takes, to keep other threads from reading them meanwhile.
constexpr std::chrono::seconds kReading{10};

// Entries per byte, where no file says how many it has.
constexpr double kSupposedDensity = 0.01;

// RocksDB reports 0 entries for files that it has not opened, or whose statistics it was told not
// to read.
double EntriesPerByte(const rocksdb::ColumnFamilyMetaData& column_family) {
  double entries = 0;
  double bytes = 0;
  for (const auto& level : column_family.levels) {
    for (const auto& file : level.files) {
      if (file.num_entries == 0) continue;
      entries += static_cast<double>(file.num_entries);
      bytes += static_cast<double>(file.size);
    }
  }
  return bytes > 0 ? entries / bytes : kSupposedDensity;
}

// The shape of a column family. If `compaction` is one of its own, the input counts as being on the
// output level already.
ColumnFamilyShape ShapeOf(const rocksdb::ColumnFamilyMetaData& column_family,
                          const rocksdb::CompactionJobInfo* compaction) {
  std::set<uint64_t> inputs;
  if (compaction != nullptr && compaction->cf_name == column_family.name) {
    for (const auto& file : compaction->input_file_infos) inputs.insert(file.file_number);
  }
  ColumnFamilyShape shape;
  shape.level_keys.resize(column_family.levels.size());
  double level0_keys = 0;
  double level0_files = 0;
  double level0_files_left = 0;
  double moved_keys = 0;
  const double density = EntriesPerByte(column_family);
  for (const auto& level : column_family.levels) {
    for (const auto& file : level.files) {
      const double keys = file.num_entries != 0 ? static_cast<double>(file.num_entries)
                                                : density * static_cast<double>(file.size);
      const bool is_moved = inputs.contains(file.file_number);
      (is_moved ? moved_keys : shape.level_keys[static_cast<size_t>(level.level)]) += keys;
      if (level.level == 0) {
        level0_keys += keys;
        ++level0_files;
        if (!is_moved) ++level0_files_left;
      }
    }
  }
  if (level0_files > 0) {
    // Other files will follow those that the compaction takes: count the average of before and
    // after.
    shape.level0_runs = (level0_files + level0_files_left) / 2;
    shape.keys_per_level0_run = level0_keys / level0_files;
  }
  shape.level_shares = SharesOfLookups(column_family, density);
  if (!inputs.empty() && compaction->output_level > 0) {
    shape.level_keys[static_cast<size_t>(compaction->output_level)] += moved_keys;
  }
  return shape;
}

// Levels of a tree that grows are there in parts for a moment; their files are asked for longer.
void SmoothShares(const ColumnFamilyShape& before, ColumnFamilyShape* shape) {
  constexpr double kOfNow = 1.0 / 8;
  for (size_t level = 0; level < shape->level_shares.size(); ++level) {
    double& share = shape->level_shares[level];
    share = kOfNow * share + (1 - kOfNow) * before.ShareOf(level);
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
  KnownShapes::ByColumnFamily shapes;
  std::map<std::string, ReadSamples> samples;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(samples_, [](const auto& entry) { return entry.first.expired(); });
    samples.swap(samples_[database]);
  }
  for (const auto& column_family : column_families) {
    ColumnFamilyShape shape = ShapeOf(column_family, compaction);
    ReadSamples& read = samples[column_family.name];
    read.Note(column_family);
    const ColumnFamilyKey key(database.get(), column_family.name);
    const auto before = KnownShapes::Instance().Get(key);
    if (before) SmoothShares(*before, &shape);
    // Level 0 is often empty at this moment, but not while its filters are asked.
    if (shape.keys_per_level0_run == 0) {
      if (before) {
        shape.level0_runs = before->level0_runs;
        shape.keys_per_level0_run = before->keys_per_level0_run;
        if (!shape.level_shares.empty()) shape.level_shares[0] = before->ShareOf(0);
      }
    }
    if (auto shares = read.Shares()) shape.level_shares = *std::move(shares);
    shapes[column_family.name] = std::move(shape);
  }
  KnownShapes::Instance().Set(database, std::move(shapes));
  const Clock::time_point end = Clock::now();
  const std::lock_guard lock(mutex_);
  samples_[database] = std::move(samples);
  next_refresh_[database] = end + kPause * (end - start);
}

}  // namespace blocksieve::rocksdb_plugin
