#pragma once

#include <rocksdb/listener.h>
#include <rocksdb/metadata.h>

#include "lib/lsm/tree.h"

namespace blocksieve::rocksdb_plugin {

/// The files of a column family as a tree. Lookups are taken to be where the keys are. They check
/// every run if the order of keys is not that of their bytes, or no file is known to have keys.
lsm::Tree TreeOf(const rocksdb::ColumnFamilyMetaData& column_family);

/// Its levels as they are, or as `compaction`, if it is one of this column family, will leave them:
/// the input counts as being on the output level already.
lsm::Levels LevelsOf(const rocksdb::ColumnFamilyMetaData& column_family,
                     const rocksdb::CompactionJobInfo* compaction);

}  // namespace blocksieve::rocksdb_plugin
