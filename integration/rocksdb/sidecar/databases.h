#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "integration/rocksdb/compat/open_databases.h"
#include "integration/rocksdb/compat/written_ssts.h"
#include "integration/rocksdb/sidecar/file.h"

namespace blocksieve::rocksdb_plugin {

/// The SST that a thread is about to write, when its collector is created.
struct StartedSst {
  bool has_listener = false;
  std::optional<SstPlace> place;  ///< Empty if a sidecar cannot be written.
};

// Tells collectors where to write sidecars, for all databases of the process. RocksDB tells a
// listener the path of an SST before it creates the SST's collector on the same thread, but the
// database and its file system only when a flush or a compaction begins. While they are uncertain,
// as during recovery, no sidecars are written: they could end up unencrypted, or beside another
// database's SSTs. Thread-safe.

/// Records the file system of a database, the directories of `ssts`, which are its own, and the id
/// of a column family. On the first call after it was opened, deletes its orphan sidecars.
void RegisterForSidecars(rocksdb::DB* db, const FamilyId& family,
                         const std::vector<std::string>& ssts = {});

/// @{
/// As in rocksdb::EventListener. `listener`: the one that RocksDB called; of databases with one
/// name, each may have its own.
void OnSstStarted(const rocksdb::EventListener* listener,
                  const rocksdb::TableFileCreationBriefInfo& sst);
/// Returns the session of the database; empty if it is uncertain.
std::string OnSstDeleted(const rocksdb::EventListener* listener,
                         const rocksdb::TableFileDeletionInfo& sst);
/// Deletes the sidecar if the SST failed, or is not the one for which it was written.
void OnSstCreated(const WrittenSst& written, const rocksdb::TableFileCreationInfo& sst);
/// @}

/// The SST that this thread started last, if it is on `level` of the column family; each is given
/// to one collector. The arguments are those of TablePropertiesCollectorFactory::Context.
StartedSst TakeStartedSst(uint32_t family_id, int level);

}  // namespace blocksieve::rocksdb_plugin
