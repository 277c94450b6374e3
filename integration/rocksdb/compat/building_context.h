#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/filter_policy.h>

#include <string>

#include "integration/rocksdb/compat/filter_bits_abi.h"

// What a filter policy learns of a file. RocksDB after 11.9 says more of it, at the end of
// FilterBuildingContext, where it also moves `reason` (rocksdb#15085). Code that was compiled with
// one layout must not read that end in a library with the other.

namespace blocksieve::rocksdb_plugin {

/// Whether the headers have the later layout.
template <class Context = rocksdb::FilterBuildingContext>
constexpr bool HasDbName() {
  return requires(const Context& context) { context.db_name; };
}

/// The name of the database; empty if there is none, or RocksDB does not say it.
template <class Context>
std::string GetDbName([[maybe_unused]] const Context& context) {
  if constexpr (HasDbName<Context>()) {
    if (KnowsBuildingContext()) return context.db_name.ToString();
  }
  return "";
}

/// Whether a worker builds the file for another process (CompactionService).
template <class Context>
bool IsRemote([[maybe_unused]] const Context& context) {
  if constexpr (HasDbName<Context>()) return KnowsBuildingContext() && context.is_remote_compaction;
  return false;
}

/// Whether recovery or RepairDB writes the file.
inline bool IsOfRecovery(const rocksdb::FilterBuildingContext& context) {
  return KnowsBuildingContext() && context.reason == rocksdb::TableFileCreationReason::kRecovery;
}

/// Whether the file is the output of a flush or of recovery. An SstFileWriter's is not.
inline bool IsOfFlush(const rocksdb::FilterBuildingContext& context) {
  if (!KnowsBuildingContext()) return false;
  return context.reason == rocksdb::TableFileCreationReason::kFlush || IsOfRecovery(context);
}

}  // namespace blocksieve::rocksdb_plugin
