#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/sidecar/file.h"

namespace blocksieve::rocksdb_plugin {

/// A file without the index that the column family's options ask for.
struct UnindexedFile {
  std::string name;  ///< As CompactFiles takes it.
  int level = 0;
  uint64_t bytes = 0;
  SstPlace place;
  std::shared_ptr<const rocksdb::TableProperties> properties;
};

/// Of the one skip index in the options. Errors: InvalidArgument, if there is none or several.
rocksdb::Status FindIndexOptions(const rocksdb::ColumnFamilyOptions& options,
                                 SkipIndexOptions* index);

/// In the order of levels. Files whose index came to nothing when it was built as asked would have
/// none again, and are not among them. Errors: those of RocksDB.
rocksdb::Status FindUnindexed(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                              const SkipIndexOptions& index, std::vector<UnindexedFile>* files,
                              int* deepest_level);

/// How much is left.
void NoteLeft(const std::vector<UnindexedFile>& files, BackfillProgress* progress);

}  // namespace blocksieve::rocksdb_plugin
