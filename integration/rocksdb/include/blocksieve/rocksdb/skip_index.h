#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/rocksdb/skip_scan.h"  // the reading side
#include "blocksieve/skip_index.h"

/// \file
/// Skip indexes on the values of a RocksDB. A collector writes an index over columns of the values
/// with each SST file; SkipScan reads only granules that can match a predicate.

namespace blocksieve {

/// Options of the skip indexes of a column family.
struct SkipIndexOptions {
  /// The indexed columns: 1 to 256 with distinct names, such as {"package=field:1", "size=uint:2"}.
  ColumnList columns = {};

  /// Make each data block one granule, so that no match makes a scan read two blocks. The two
  /// limits below then apply only while block ends are unknown: before the end of the first block,
  /// while RocksDB buffers blocks for a compression dictionary, and in tables without blocks.
  bool block_granules = true;

  uint64_t granule_rows = kDefaultGranuleRows;    ///< Maximum rows of a granule. 0: no limit.
  uint64_t granule_bytes = kDefaultGranuleBytes;  ///< The same for bytes of keys and values.

  /// FPR of the filters: of the granules that lack a value, the share that a scan for it reads.
  /// 1e-7 to 0.5. Lower than for keys: each false positive costs a read, and most granules lack
  /// most values.
  double target_fpr = 0.001;

  /// Maximum size of a file's index, in bytes. Parts that exceed it are left out, the largest
  /// filters first, which the info log reports. 0: no limit.
  uint64_t max_index_bytes = kDefaultMaxIndexBytes;

  /// Size in bytes up to which an index is stored in the SST's properties. A larger one becomes a
  /// file beside the SST, a sidecar (000012.bsx beside 000012.sst), of which a scan reads only the
  /// columns that it needs. RocksDB holds the properties of open files in memory outside its block
  /// cache, and cannot open a database if one bit of them is damaged. A sidecar has neither cost,
  /// but is not copied with its SST: see CopySkipIndexes. Sidecars need the listener (NewListener).
  /// Without it, and for SSTs written by a recovery or an SstFileWriter, every index stays in the
  /// properties, which the info log reports once.
  uint64_t max_property_bytes = 4096;

  /// Bytes at the end of each stored value that readers do not see: 4 under rocksdb::DBWithTTL,
  /// which stores a time there. An index is used only if this equals the reading database's.
  uint32_t value_suffix_bytes = 0;

  /// Log for problems, since RocksDB gives a collector none. Null: stderr. Shared.
  std::shared_ptr<rocksdb::Logger> info_log = nullptr;
};

/// A factory for ColumnFamilyOptions::table_properties_collector_factories; EnableSkipIndex
/// (blocksieve/rocksdb.h) also sets the listener. Thread-safe, immutable. Existing files get the
/// index when they are compacted (BackfillSkipIndexes). A file without an index is read as a whole,
/// so no error of a collector can lose rows. Only plain values are indexed; granules with merge
/// operands, blob references or wide-column entities always match.
///
/// In OPTIONS files, and in option strings once the plug-in is loaded, with all options by name:
///   table_properties_collectors={{id=blocksieve.skip_index;columns=pkg=field:1|w=words:2}}
/// In a column, ; { } | % # and \ are written %XX, as in field(%3B):2.
///
/// Errors: InvalidArgument if an option is out of its range; ResourceExhausted if memory is short.
BLOCKSIEVE_EXPORT Result<std::shared_ptr<rocksdb::TablePropertiesCollectorFactory>>
NewSkipIndexCollectorFactory(const SkipIndexOptions& options);

/// Summarises the indexes of all files from table properties and sidecars, without reading data.
/// Thread-safe. Errors: those of RocksDB.
BLOCKSIEVE_EXPORT rocksdb::Status ReadSkipIndexes(rocksdb::DB* db,
                                                  rocksdb::ColumnFamilyHandle* column_family,
                                                  SkipIndexSummary* summary);

/// Progress of BackfillSkipIndexes or RebuildSkipIndexes.
struct BackfillProgress {
  uint64_t files_done = 0;  ///< Files indexed so far.
  uint64_t files_left = 0;  ///< Files that still lack the index.
  uint64_t bytes_done = 0;  ///< Bytes of the files indexed.
  uint64_t bytes_left = 0;  ///< Bytes of the files that still lack the index.
};

/// Compacts the files that lack the index of the column family's current options, one at a time in
/// the calling thread. RocksDB may have to compact other files with them, and files flushed
/// meanwhile may be compacted too. Memtables are not flushed; a flush indexes what they hold.
/// Reads and writes may continue. `progress`, if set, is called before each compaction and at the
/// end; false stops, unless no files are left.
///
/// Errors: InvalidArgument unless the column family has exactly one skip index factory (a file
/// keeps one index); NotSupported under FIFO compaction; Incomplete if `progress` returned false,
/// if other compactions held all remaining files for half a second (try again later), or if the
/// compacted files lack the index too, because their tables are not block-based or a process
/// without the factory wrote them; else those of RocksDB.
BLOCKSIEVE_EXPORT rocksdb::Status BackfillSkipIndexes(
    rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
    const std::function<bool(const BackfillProgress&)>& progress = nullptr);

// RocksDB does not copy sidecars (SkipIndexOptions::max_property_bytes) with SSTs. These functions
// copy or rebuild them. A missing sidecar costs only time: its SST is read as a whole. All are
// thread-safe. Errors: those of RocksDB and of the file system; MemoryLimit.

/// rocksdb::Checkpoint::CreateCheckpoint with the sidecars, which are linked like SSTs, or copied.
BLOCKSIEVE_EXPORT rocksdb::Status CreateCheckpointWithSkipIndexes(rocksdb::DB* db,
                                                                  const std::string& directory);

/// Links or copies the sidecars of all live SSTs, which a backup lacks, into `directory`, for
/// CopySkipIndexes. Creates the directory if it is missing; keeps the sidecars that it already has.
BLOCKSIEVE_EXPORT rocksdb::Status SaveSkipIndexes(rocksdb::DB* db, const std::string& directory);

/// Links or copies from `directory` the missing sidecars of the column family's SSTs, under
/// whatever names they have there. The directory may be one that SaveSkipIndexes filled, or that of
/// the database from which SSTs were ingested or imported. `*num_copied`, if not null, becomes the
/// number of sidecars found.
BLOCKSIEVE_EXPORT rocksdb::Status CopySkipIndexes(rocksdb::DB* db,
                                                  rocksdb::ColumnFamilyHandle* column_family,
                                                  const std::string& directory,
                                                  uint64_t* num_copied = nullptr);

/// Reads the SSTs that lack the index of the column family's current options, one at a time, and
/// writes each a sidecar: after a restore, or to index another column. Unlike BackfillSkipIndexes
/// it rewrites no SST. Finished sidecars stay, so a call after a stop continues where it ended.
/// `progress` as in BackfillSkipIndexes, and also called while a file is read. Reads at most
/// `bytes_per_second` of keys and values; 0: no limit.
///
/// Before RocksDB 9.3, only the newest versions of rows can be read from an SST. Scans at a
/// snapshot older than its newest entry then read it as a whole, and SSTs with merge operands or
/// blob references get no index.
///
/// Errors: InvalidArgument as in BackfillSkipIndexes; NotSupported with user-defined timestamps;
/// Incomplete if `progress` returned false, or SSTs cannot be indexed (naming the first).
BLOCKSIEVE_EXPORT rocksdb::Status RebuildSkipIndexes(
    rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
    const std::function<bool(const BackfillProgress&)>& progress = nullptr,
    uint64_t bytes_per_second = 0);

/// rocksdb::DestroyDB, and deletes the sidecars, which RocksDB would leave with the directory.
BLOCKSIEVE_EXPORT rocksdb::Status DestroyDbWithSkipIndexes(
    const std::string& name, const rocksdb::Options& options,
    const std::vector<rocksdb::ColumnFamilyDescriptor>& column_families = {});

}  // namespace blocksieve
