#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>

#include <set>
#include <string>

namespace blocksieve::rocksdb_plugin {

/// Compacts one file into its own level, with the column family's compression, in the calling
/// thread. `name` is that of SstFileMetaData. Adds the path of the new file to `*written`.
/// Errors: NotFound if the file no longer exists; Aborted while another compaction holds it;
/// Incomplete if the compaction was canceled; NotSupported if RocksDB would crash at the file; else
/// those of RocksDB.
rocksdb::Status CompactFile(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                            const std::string& name, std::set<std::string>* written);

}  // namespace blocksieve::rocksdb_plugin
