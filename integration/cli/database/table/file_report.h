#pragma once

#include "integration/rocksdb/maintenance/file_report.h"

// Facts about a table file for `inspect`, `verify` and `advise`.

namespace blocksieve::cli {

using rocksdb_plugin::DescribeFilters;
using rocksdb_plugin::FilePlace;
using rocksdb_plugin::FileReport;
using rocksdb_plugin::FilterOrigin;
using rocksdb_plugin::FilterReport;
using rocksdb_plugin::IndexColumnReport;
using rocksdb_plugin::IndexReport;
using rocksdb_plugin::KeyLess;
using rocksdb_plugin::LookupRange;
using rocksdb_plugin::PartReport;

class OpenedTable;

/// Describes a table without reading its data blocks. Throws Failure.
FileReport ReportTable(const FilePlace& place, uint64_t num_bytes, OpenedTable* table);

}  // namespace blocksieve::cli
