#pragma once

#include "integration/rocksdb/maintenance/file_report.h"
#include "integration/rocksdb/maintenance/sorted_runs.h"

// Facts about table files, and their sorted runs.

namespace blocksieve::cli {

using rocksdb_plugin::FilePlace;
using rocksdb_plugin::FileReport;
using rocksdb_plugin::FilterOrigin;
using rocksdb_plugin::FilterReport;
using rocksdb_plugin::IndexColumnReport;
using rocksdb_plugin::IndexReport;
using rocksdb_plugin::LookupRange;
using rocksdb_plugin::PartReport;
using rocksdb_plugin::RunList;
using rocksdb_plugin::SortedRun;

}  // namespace blocksieve::cli
