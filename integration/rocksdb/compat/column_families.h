#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <vector>

namespace blocksieve::rocksdb_plugin {

/// Replaces the list that a public function was given by the families it means (RebuildSkipIndexes
/// says which). Errors: InvalidArgument for an empty list of a database with several families.
rocksdb::Status ResolveFamilies(rocksdb::DB* db,
                                std::vector<rocksdb::ColumnFamilyHandle*>* families);

}  // namespace blocksieve::rocksdb_plugin
