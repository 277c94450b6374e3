#pragma once

#include <rocksdb/db.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/granule_set.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/scan/file_map.h"
#include "integration/rocksdb/scan/scan_context.h"
#include "lib/skip/skip_planner.h"

namespace blocksieve::rocksdb_plugin {

/// What is to be read of one file.
struct PlannedFile {
  uint64_t number = 0;
  std::shared_ptr<const FileIndex> index;

  /// The file has no index that serves: all of it is to be read.
  bool is_whole = false;

  /// Granules to read, if not whole.
  GranuleSet granules = GranuleSet::None(0);
};

/// What is to be read of a column family besides its memtables.
struct ScanPlan {
  std::vector<PlannedFile> files;
  std::shared_ptr<const FileMap> map;

  /// All files are known to the map; otherwise any range may overlap others.
  bool map_is_complete = false;
};

/// Asks the indexes of `properties` (of all files, taken after the memtables were held). `indexes`
/// notes what was found in the context's counts; if these then have a full_scan_reason, everything
/// is to be read instead. REQUIRES: indexes->CanSkip()
ScanPlan MakePlan(ScanContext* context, const rocksdb::TablePropertiesCollection& properties,
                  rocksdb::ColumnFamilyMetaData metadata, rocksdb::SequenceNumber snapshot,
                  internal::SkipPlanner* indexes);

}  // namespace blocksieve::rocksdb_plugin
