#pragma once

#include "integration/cli/database/table/file_report.h"
#include "integration/rocksdb/maintenance/sorted_runs.h"

namespace blocksieve::cli {

using rocksdb_plugin::ByLevel;
using rocksdb_plugin::FilterKeys;
using rocksdb_plugin::PointBytes;
using rocksdb_plugin::RunList;
using rocksdb_plugin::SetCoverage;
using rocksdb_plugin::ShareBefore;
using rocksdb_plugin::SortedRun;
using rocksdb_plugin::SortIntoRuns;

}  // namespace blocksieve::cli
