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
#include "integration/rocksdb/index/prune_rule.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/scan/scan_context.h"

namespace blocksieve::rocksdb_plugin {

/// The key ranges of a column family's files. RocksDB returns metadata and table properties in
/// separate calls, and files change in between, so a file may be unknown here.
class FileMap {
 public:
  FileMap(const rocksdb::Comparator* comparator, rocksdb::ColumnFamilyMetaData metadata);

  /// Null if the file is unknown.
  const rocksdb::SstFileMetaData* Find(uint64_t file_number) const;

  /// Whether another known file has keys or tombstones in the range. REQUIRES: it has both ends.
  bool OthersOverlap(const ScanRange& range, uint64_t file_number) const;

  /// Calls visit(file, its number) for each file, in the order of levels.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (const auto& [number, file] : files_) visit(*file, number);
  }

  /// The files of ForEach, without what their properties say.
  std::vector<PlacedFile> Places() const;

 private:
  using Numbered = std::pair<uint64_t, const rocksdb::SstFileMetaData*>;

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
