#pragma once

#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/scan/scan_context.h"
#include "lib/predicate/column_index.h"
#include "lib/skip/scan_pruner.h"

namespace blocksieve::rocksdb_plugin {

/// Which files of a column family lie where. RocksDB hands out metadata and table properties one
/// after the other, and files may come and go in between, so files may be unknown here.
class FileMap {
 public:
  FileMap(const rocksdb::Comparator* comparator, rocksdb::ColumnFamilyMetaData metadata);

  /// Null if the file is unknown.
  const rocksdb::SstFileMetaData* Find(uint64_t file_number) const;

  /// Whether a known file other than that one has keys, or tombstones, in the range.
  /// REQUIRES: both ends
  bool OthersOverlap(const ScanRange& range, uint64_t file_number) const;

 private:
  bool Overlaps(const rocksdb::SstFileMetaData& file, const ScanRange& range) const;

  const rocksdb::Comparator* const comparator_;
  const rocksdb::ColumnFamilyMetaData metadata_;
  std::map<uint64_t, const rocksdb::SstFileMetaData*> by_number_;
};

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
/// is to be read instead. REQUIRES: indexes->CanPrune()
ScanPlan MakePlan(ScanContext* context, const rocksdb::TablePropertiesCollection& properties,
                  rocksdb::ColumnFamilyMetaData metadata, rocksdb::SequenceNumber snapshot,
                  internal::ScanPruner* indexes);

// Rows that can be counted without being read: of granules in which all rows match, in files whose
// entries are all rows. Such files have each key once, which their sequence numbers tell:
// compaction sets these to zero on the last level where no snapshot needs older versions.

/// Whether memtables hide nothing that files have. To be asked after the snapshot was taken, and
/// before the files are listed.
bool MemtablesAreEmpty(const ScanContext& context);

/// Takes such granules out of the plan and returns the number of their rows. REQUIRES: the
/// memtables are empty.
uint64_t CountGranules(const ScanContext& context, ScanPlan* plan);

/// All rows of the files, if the predicate is true for any row, and each of them counts.
/// REQUIRES: the memtables are empty.
std::optional<uint64_t> CountAll(const ScanContext& context,
                                 const rocksdb::TablePropertiesCollection& files,
                                 rocksdb::ColumnFamilyMetaData metadata);

}  // namespace blocksieve::rocksdb_plugin
