#pragma once

#include <rocksdb/options.h>
#include <rocksdb/status.h>

namespace blocksieve::rocksdb_plugin {

/// Whether filters of ranges can be right with these options. `check_extractor`: whether the prefix
/// extractor has to be ours. Errors: InvalidArgument, naming what is in the way.
rocksdb::Status CheckRangeOptions(const rocksdb::ColumnFamilyOptions& column_family,
                                  bool check_extractor);

}  // namespace blocksieve::rocksdb_plugin
