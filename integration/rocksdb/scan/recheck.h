#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <string>
#include <vector>

#include "integration/rocksdb/scan/scan_context.h"

namespace blocksieve::rocksdb_plugin {

/// The values of `keys`, in the comparator's order and distinct, at the snapshot. `(*found)[i]`
/// says whether there is one. If keys of other bytes may be equal to them, `stored_keys` has those
/// that are; else it stays empty. Errors: those of RocksDB.
rocksdb::Status LookUp(const ScanContext& context, const std::vector<rocksdb::Slice>& keys,
                       std::vector<std::string>* values, std::vector<bool>* found,
                       std::vector<std::string>* stored_keys);

}  // namespace blocksieve::rocksdb_plugin
