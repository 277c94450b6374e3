#include "integration/rocksdb/scan/file_map.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::rocksdb_plugin {

FileMap::FileMap(const rocksdb::Comparator* comparator, rocksdb::ColumnFamilyMetaData metadata)
    : comparator_(comparator), metadata_(std::move(metadata)) {
  for (const rocksdb::LevelMetaData& level : metadata_.levels) {
    auto& files = levels_.emplace_back();
    for (const rocksdb::SstFileMetaData& file : level.files) {
      by_number_[FileNumberOf(file.name)] = &file;
      files.push_back(&file);
    }
  }
}

const rocksdb::SstFileMetaData* FileMap::Find(uint64_t file_number) const {
  const auto found = by_number_.find(file_number);
  return found == by_number_.end() ? nullptr : found->second;
}

bool FileMap::Overlaps(const rocksdb::SstFileMetaData& file, const ScanRange& range) const {
  return comparator_->Compare(file.smallestkey, *range.high) <= 0 &&
         comparator_->Compare(*range.low, file.largestkey) <= 0;
}

bool FileMap::OthersOverlap(const ScanRange& range, uint64_t file_number) const {
  assert(range.low && range.high);
  for (size_t level = 0; level < levels_.size(); ++level) {
    const auto& files = levels_[level];
    // In levels from 1 on files are in key order, and do not overlap each other.
    auto file = level == 0 ? files.begin()
                           : std::partition_point(files.begin(), files.end(), [&](const auto* one) {
                               return comparator_->Compare(one->largestkey, *range.low) < 0;
                             });
    for (; file != files.end(); ++file) {
      if (!Overlaps(**file, range)) {
        if (level == 0) continue;
        break;
      }
      if (FileNumberOf((*file)->name) != file_number) return true;
    }
  }
  return false;
}

}  // namespace blocksieve::rocksdb_plugin
