#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"

/// \file
/// Skip indexes that are in files beside their SSTs (sidecars; SkipIndexOptions::max_property_bytes
/// says which are) do not go along when RocksDB copies SSTs. These functions take them along, or
/// make them anew. Nothing depends on it but time: an SST without its sidecar is read as a whole.
///
/// All are thread-safe. Errors are those of RocksDB and of the file system; MemoryLimit.

namespace blocksieve {

/// rocksdb::Checkpoint::CreateCheckpoint, with the sidecars, which are linked as SSTs are, or
/// copied.
BLOCKSIEVE_EXPORT rocksdb::Status CreateCheckpointWithSkipIndexes(rocksdb::DB* db,
                                                                  const std::string& directory);

/// Links or copies the sidecars of all live SSTs into `directory`, which is made if it is missing:
/// what a backup lacks. Those that it has already are left as they are. For CopySkipIndexes.
BLOCKSIEVE_EXPORT rocksdb::Status SaveSkipIndexes(rocksdb::DB* db, const std::string& directory);

/// Links or copies, for each SST of the column family whose sidecar is missing, the one that
/// belongs to it from `directory`, whatever its name is there. The directory may be one that
/// SaveSkipIndexes filled, or that of the database from which SSTs were ingested or imported.
/// `*num_copied`, if not null, becomes the number of sidecars that were found.
BLOCKSIEVE_EXPORT rocksdb::Status CopySkipIndexes(rocksdb::DB* db,
                                                  rocksdb::ColumnFamilyHandle* column_family,
                                                  const std::string& directory,
                                                  uint64_t* num_copied = nullptr);

/// Reads, one after the other, the SSTs that lack the index for which the column family's options
/// ask now, and gives each a sidecar with it: after a restore, or to index another column. Unlike
/// BackfillSkipIndexes this rewrites no SST, and RocksDB has nothing to do with it.
///
/// `progress` as in BackfillSkipIndexes, and now and then while a file is read. What is done stays
/// done, so that one that was stopped goes on where it ended. Reads at most `bytes_per_second` of
/// keys and values; 0: as fast as it can.
///
/// Before RocksDB 9.3 only the newest versions of rows can be read from an SST. Scans at a snapshot
/// that is older than its newest entry then read it as a whole, and SSTs with merge operands or
/// references to blobs get no index.
///
/// Errors: InvalidArgument if the column family has no skip index factory, or several; NotSupported
/// with user-defined timestamps; Incomplete if `progress` returned false, or for SSTs that cannot
/// be given one, of which it names the first.
BLOCKSIEVE_EXPORT rocksdb::Status RebuildSkipIndexes(
    rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
    const std::function<bool(const BackfillProgress&)>& progress = nullptr,
    uint64_t bytes_per_second = 0);

/// rocksdb::DestroyDB, which leaves sidecars and with them the directory.
BLOCKSIEVE_EXPORT rocksdb::Status DestroyDbWithSkipIndexes(
    const std::string& name, const rocksdb::Options& options,
    const std::vector<rocksdb::ColumnFamilyDescriptor>& column_families = {});

}  // namespace blocksieve
