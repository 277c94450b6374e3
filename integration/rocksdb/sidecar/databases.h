#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>

#include <optional>
#include <string>
#include <vector>

#include "integration/rocksdb/sidecar/file.h"

namespace blocksieve::rocksdb_plugin {

/// The SST that a thread is about to write, when its collector is created.
struct StartedSst {
  bool has_listener = false;
  std::optional<SstPlace> place;  ///< Empty if a sidecar cannot be written.
};

// Tells collectors where to write sidecars, for all databases of the process. RocksDB tells a
// listener the path of an SST before it creates the SST's collector on the same thread, but the
// file system only in callbacks with a database. While the file system is uncertain, as during
// recovery, no sidecars are written: they could end up unencrypted, or elsewhere. Thread-safe.

/// Records the file system of a database, and the directories of `ssts`, which are its own. On the
/// first call, deletes its orphan sidecars.
void RegisterForSidecars(rocksdb::DB* db, const std::vector<std::string>& ssts = {});

/// @{
/// As in rocksdb::EventListener.
void OnSstStarted(const rocksdb::TableFileCreationBriefInfo& sst);
void OnSstCreated(const rocksdb::TableFileCreationInfo& sst);
void OnSstDeleted(const rocksdb::TableFileDeletionInfo& sst);
/// @}

/// The SST that this thread has started, and forgets it: call it once for each SST.
StartedSst TakeStartedSst();

}  // namespace blocksieve::rocksdb_plugin
