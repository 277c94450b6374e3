#pragma once

#include <rocksdb/table_properties.h>

#include <cstdint>
#include <optional>

#include "integration/rocksdb/scan/scan_context.h"
#include "integration/rocksdb/scan/scan_plan.h"

// Rows that can be counted without being read: of granules in which all rows match, in files whose
// entries are all rows. Such files have each key once, which their sequence numbers tell:
// compaction sets these to zero on the last level where no snapshot needs older versions.

namespace blocksieve::rocksdb_plugin {

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
