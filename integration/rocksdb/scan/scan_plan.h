#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/scan.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/scan/scan_context.h"

namespace blocksieve::rocksdb_plugin {

/// Where a column family may have entries of a file's keys that are older than the file's.
enum class OlderEntries {
  kNone,          ///< Nowhere: readers that leave out the file see older ones of none of its keys.
  kInOtherFiles,  ///< In overlapping files, of deeper levels or of level 0.
  kOfSharedKeys,  ///< In a neighbour with the file's first or last key: compactions cut there too.
};

/// The key ranges of a column family's files. RocksDB returns metadata and table properties in
/// separate calls, and files change in between, so a file may be unknown here.
class FileMap {
 public:
  FileMap(const rocksdb::Comparator* comparator, rocksdb::ColumnFamilyMetaData metadata);

  /// Null if the file is unknown.
  const rocksdb::SstFileMetaData* Find(uint64_t file_number) const;

  /// Whether another known file has keys or tombstones in the range. REQUIRES: it has both ends.
  bool OthersOverlap(const ScanRange& range, uint64_t file_number) const;

  /// Calls visit(file, its number, where older entries may be) for each file, in the order of
  /// levels.
  template <class Visit>
  void ForEach(Visit visit) const {
    size_t n = 0;
    for (size_t level = 0; level < metadata_.levels.size(); ++level) {
      const auto& files = metadata_.levels[level].files;
      const std::vector<bool> is_above = FindAboveOlder(metadata_.levels[level]);
      for (size_t i = 0; i < files.size(); ++i) {
        const OlderEntries older =
            !is_above.empty() && is_above[i] ? OlderEntries::kInOtherFiles : Older(level, i);
        visit(files[i], files_[n++].first, older);
      }
    }
  }

 private:
  using Numbered = std::pair<uint64_t, const rocksdb::SstFileMetaData*>;

  // Whether each file of level 0 overlaps another one that may have older entries; empty for other
  // levels.
  std::vector<bool> FindAboveOlder(const rocksdb::LevelMetaData& level) const;
  // Without regard to other files of level 0.
  OlderEntries Older(size_t level, size_t index) const;

  const rocksdb::Comparator* const comparator_;
  const rocksdb::ColumnFamilyMetaData metadata_;
  std::vector<Numbered> files_;      // in the order of levels
  std::vector<Numbered> by_number_;  // the same, sorted
};

/// The part of a file to read.
struct PlannedFile {
  uint64_t number = 0;
  std::string path;
  std::shared_ptr<const rocksdb::TableProperties> properties;

  /// Null until the file is pruned; see PruneFile.
  std::shared_ptr<const SstIndex> index = nullptr;

  /// Read all of the file, as it has no usable index.
  bool is_whole = false;

  /// The granules to read, unless is_whole.
  GranuleSet granules = GranuleSet::None(0);
};

/// The parts of a column family's files to read.
struct ScanPlan {
  std::vector<PlannedFile> files;
  std::shared_ptr<const FileMap> map;

  /// The map knows all files. If not, any range may overlap others.
  bool map_is_complete = false;
};

/// Opens the index of a file, sets what of the file to read, and returns the number of rows to
/// re-check. Throws std::bad_alloc.
uint64_t PruneFile(ScanContext* context, const FileMap& map, PlannedFile* file);

/// Prunes the granules of all files with their indexes. `properties` are those of all files, read
/// after the memtables were pinned. If the context's counts then have a full_scan_reason, read
/// everything instead. `is_lazy`: files of the map are not pruned before the scan reaches them, and
/// no full scan is demanded. REQUIRES: context->indexes->CanPrune()
ScanPlan MakePlan(ScanContext* context, const rocksdb::TablePropertiesCollection& properties,
                  rocksdb::ColumnFamilyMetaData metadata, bool is_lazy);

}  // namespace blocksieve::rocksdb_plugin
