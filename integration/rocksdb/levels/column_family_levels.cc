#include "integration/rocksdb/levels/column_family_levels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include "lib/lsm/key_interpolation.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using rocksdb::ColumnFamilyMetaData;
using rocksdb::SstFileMetaData;

/// The number of keys of files. RocksDB reports 0 entries for files that it has not opened, or
/// whose statistics it was told not to read; their keys are estimated from their bytes.
class KeyCounts {
 public:
  explicit KeyCounts(const ColumnFamilyMetaData& column_family) {
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

  double Of(const SstFileMetaData& file) const {
    return file.num_entries != 0 ? static_cast<double>(file.num_entries)
                                 : std::round(entries_per_byte_ * static_cast<double>(file.size));
  }

 private:
  double entries_per_byte_ = 0.01;  // where no file says how many it has
};

bool AreInByteOrder(const std::vector<SstFileMetaData>& files, bool may_overlap) {
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].smallestkey > files[i].largestkey) return false;
    if (may_overlap || i == 0) continue;
    if (files[i - 1].largestkey > files[i].smallestkey) return false;
  }
  return true;
}

}  // namespace

lsm::Tree TreeOf(const ColumnFamilyMetaData& column_family) {
  const KeyCounts num_keys(column_family);
  std::vector<lsm::Run> runs;
  std::vector<lsm::RunFile> files;
  bool is_in_byte_order = true;
  for (const auto& level : column_family.levels) {
    is_in_byte_order = is_in_byte_order && AreInByteOrder(level.files, level.level == 0);
    for (const SstFileMetaData& file : level.files) {
      if (level.level == 0 || runs.empty() || runs.back().level != level.level) {
        runs.push_back({.level = level.level});
      }
      runs.back().num_keys += num_keys.Of(file);
      files.push_back({runs.size() - 1, num_keys.Of(file), file.smallestkey, file.largestkey});
    }
  }
  if (!is_in_byte_order) return lsm::Tree(std::move(runs));
  const lsm::KeyInterpolation keys(files);
  return lsm::Tree(std::move(runs),
                   lsm::CoverageOf(files, std::less<>(),
                                   std::bind_front(&lsm::KeyInterpolation::ShareBefore, &keys)));
}

lsm::Levels LevelsOf(const ColumnFamilyMetaData& column_family,
                     const rocksdb::CompactionJobInfo* compaction) {
  lsm::Levels levels = TreeOf(column_family).ToLevels();
  levels.resize(std::max(levels.size(), column_family.levels.size()), {.num_runs = 0});
  if (compaction == nullptr || compaction->cf_name != column_family.name) return levels;
  std::set<uint64_t> inputs;
  for (const auto& file : compaction->input_file_infos) inputs.insert(file.file_number);
  const KeyCounts num_keys(column_family);
  double moved_keys = 0;
  for (const auto& level : column_family.levels) {
    RunGroup& shape = levels[static_cast<size_t>(level.level)];
    for (const SstFileMetaData& file : level.files) {
      if (!inputs.contains(file.file_number)) continue;
      moved_keys += num_keys.Of(file);
      if (level.level == 0) {
        // Other files will follow those that the compaction takes: count the average of before and
        // after.
        shape.num_runs -= 0.5;
      } else {
        shape.keys_per_run -= num_keys.Of(file);
      }
    }
    if (shape.keys_per_run == 0) shape.num_runs = 0;
  }
  if (compaction->output_level == 0) return levels;
  RunGroup& output = levels[static_cast<size_t>(compaction->output_level)];
  output.num_runs = 1;
  output.keys_per_run += moved_keys;
  return levels;
}

KnownLevels& KnownLevels::Instance() {
  // Never destroyed: databases may be closed after static destructors began.
  static auto& instance = *new KnownLevels;
  return instance;
}

void KnownLevels::Set(const std::shared_ptr<const rocksdb::Logger>& database,
                      ByColumnFamily levels) {
  const std::lock_guard lock(mutex_);
  std::erase_if(databases_, [](const auto& entry) { return entry.second.log.expired(); });
  databases_[database.get()] = {database, std::move(levels)};
}

std::optional<lsm::Levels> KnownLevels::Get(const ColumnFamilyKey& column_family) const {
  const std::lock_guard lock(mutex_);
  const auto database = databases_.find(column_family.first);
  if (database == databases_.end() || database->second.log.expired()) return std::nullopt;
  const auto found = database->second.levels.find(column_family.second);
  if (found == database->second.levels.end()) return std::nullopt;
  return found->second;
}

}  // namespace blocksieve::rocksdb_plugin
