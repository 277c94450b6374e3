#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/sidecar/file.h"

namespace blocksieve::rocksdb_plugin {

/// A file that lacks the index of the column family's options.
struct UnindexedFile {
  std::string name;  ///< The name that CompactFiles expects.
  uint64_t bytes = 0;
  bool has_blob_references = false;
  SstPlace place;
  std::shared_ptr<const rocksdb::TableProperties> properties;
};

/// The options of the column family's one skip index. Errors: InvalidArgument unless it has one.
rocksdb::Status FindIndexOptions(const rocksdb::ColumnFamilyOptions& options,
                                 SkipIndexSettings* settings);

/// Finds the files whose index is missing or damaged, in the order of levels. Leaves out files for
/// which building this index failed before, as it would fail again, and those named in `*others`,
/// to which it adds the files that have the index. Errors: those of RocksDB.
rocksdb::Status FindUnindexed(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                              const SkipIndexSettings& settings, std::set<std::string>* others,
                              std::vector<UnindexedFile>* files);

/// Sets the remaining files and bytes.
void SetRemaining(const std::vector<UnindexedFile>& files, BackfillProgress* progress);

}  // namespace blocksieve::rocksdb_plugin
