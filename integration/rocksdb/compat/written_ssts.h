#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace blocksieve::rocksdb_plugin {

/// An SST that a thread is writing. RocksDB tells a listener its path before it creates the SST's
/// collectors, filters and index on the same thread, which learn no path.
struct WrittenSst {
  std::string db_name;
  std::string family;
  int job_id = 0;
  std::string path;
  /// @{
  /// The database and the column family; empty while they are uncertain, as during recovery.
  std::string session = {};
  std::weak_ptr<rocksdb::FileSystem> file_system = {};
  std::weak_ptr<rocksdb::Logger> info_log = {};
  std::optional<uint32_t> family_id = std::nullopt;
  /// @}
  bool is_taken = false;  ///< Whether a collector writes the SST's sidecar.
};

/// Those of the calling thread, the innermost last: a compaction filter, for instance, may write
/// SSTs of its own. The listener adds one when RocksDB starts it and takes it out when RocksDB
/// reports its end. RocksDB does not report every end, so the oldest of too many is dropped, and
/// whoever reads one compares what it knows of its own SST.
inline std::vector<WrittenSst>& WrittenSsts() {
  thread_local std::vector<WrittenSst> ssts;
  return ssts;
}

/// Takes out the SST of which RocksDB reports the end, and those inside it, which have ended, too.
inline std::optional<WrittenSst> TakeWrittenSst(const rocksdb::TableFileCreationInfo& info) {
  std::vector<WrittenSst>& ssts = WrittenSsts();
  // For an SST that was not kept, `info` may lack the path.
  const auto found = std::find_if(ssts.rbegin(), ssts.rend(), [&](const WrittenSst& sst) {
    return sst.db_name == info.db_name && sst.job_id == info.job_id &&
           (sst.path == info.file_path || !info.status.ok());
  });
  if (found == ssts.rend()) return std::nullopt;
  WrittenSst sst = std::move(*found);
  ssts.erase(std::prev(found.base()), ssts.end());
  return sst;
}

}  // namespace blocksieve::rocksdb_plugin
