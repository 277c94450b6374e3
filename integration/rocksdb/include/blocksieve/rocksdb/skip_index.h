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
/// Skip indexes on the values of a RocksDB. A collector writes into each SST file a skip index over
/// columns of the values; SkipScan reads only granules that can match a predicate.

namespace blocksieve {

/// What the files of a column family are indexed by.
struct SkipIndexOptions {
  /// 1 to 256, of distinct names: {"package=field:1", "size=uint:2"}.
  ColumnList columns = {};

  /// A granule is a data block: a scan then reads no block for rows of its neighbours. The limits
  /// below count only while blocks cannot be told apart: before the end of the first one, as long
  /// as RocksDB holds blocks back for a compression dictionary, and in tables that have no blocks.
  bool block_granules = true;

  /// A granule closes when it has so many rows. 0: no limit.
  uint64_t granule_rows = kDefaultGranuleRows;

  /// And when their keys and values take so many bytes. 0: no limit.
  uint64_t granule_bytes = kDefaultGranuleBytes;

  /// Share of the granules without a value that are read all the same; 1e-7 to 0.5. Lower than that
  /// of keys: such a granule costs reads, and most granules lack most values.
  double target_fpr = 0.001;

  /// Bytes of the index of one file. What exceeds it is left out, the largest filters first, and
  /// the info log says so. 0: no limit.
  uint64_t max_index_bytes = kDefaultMaxIndexBytes;

  /// A longer index goes into a file beside the SST (000012.bsx beside 000012.sst), of which a scan
  /// reads only the columns that it asks. RocksDB holds the properties of open files in memory,
  /// outside of its block cache, and cannot open a database if a bit of them is damaged; a file
  /// beside costs neither, but does not go along when an SST is copied: see CopySkipIndexes.
  ///
  /// Needs the listener of NewListener. Without it, and for SSTs that a recovery or an
  /// SstFileWriter writes, every index stays in the properties, and the info log says so once.
  uint64_t max_property_bytes = 4096;

  /// Bytes at the end of stored values that readers do not see: 4 under rocksdb::DBWithTTL, which
  /// stores a time there, else 0. An index whose number is not the reading database's is not used.
  uint32_t value_suffix_bytes = 0;

  /// Where problems are reported, since RocksDB gives a collector no log. Null: stderr. Shared.
  std::shared_ptr<rocksdb::Logger> info_log = nullptr;
};

/// The factory to push into ColumnFamilyOptions::table_properties_collector_factories. Files that
/// exist already get their index when they are compacted: see BackfillSkipIndexes.
///
/// A file without an index, for whatever reason, is read as a whole, so no error of a collector can
/// lose rows. Plain values are indexed; merge operands, blob references and wide-column entities
/// make their granule one that always matches.
///
/// In option strings, of programs that loaded the plug-in, it is
///   table_properties_collectors={{id=blocksieve.skip_index;columns=pkg=field:1|w=words:2}}
/// with the other options by their names; OPTIONS files carry it likewise. In a column, ; { } | % #
/// and \ are written %XX, as in field(%3B):2.
///
/// Thread-safe, immutable. EnableSkipIndex (blocksieve/rocksdb.h) puts one in its place, with all
/// else that it needs.
///
/// Errors: InvalidArgument if an option is out of its range; ResourceExhausted if memory is short.
BLOCKSIEVE_EXPORT Result<std::shared_ptr<rocksdb::TablePropertiesCollectorFactory>>
NewSkipIndexCollectorFactory(const SkipIndexOptions& options);

/// Reads the table properties of all files; no data. Thread-safe.
/// Errors: those of RocksDB.
BLOCKSIEVE_EXPORT rocksdb::Status ReadSkipIndexes(rocksdb::DB* db,
                                                  rocksdb::ColumnFamilyHandle* column_family,
                                                  SkipIndexSummary* summary);

/// How far BackfillSkipIndexes has come.
struct BackfillProgress {
  uint64_t files_done = 0;  ///< Files compacted so far.
  uint64_t files_left = 0;  ///< Files that still lack the index.
  uint64_t bytes_done = 0;  ///< Bytes of the files compacted.
  uint64_t bytes_left = 0;  ///< Bytes of the files that still lack the index.
};

/// Compacts, one after the other in the calling thread, the files that lack the index for which the
/// column family's options ask now. RocksDB may have to compact other files along with them, and
/// files that are flushed meanwhile may be compacted too; no other files are. The memtables are not
/// flushed: what they hold gets its index when they are.
///
/// `progress`, if set, is called before each compaction and at the end; if it returns false while
/// files are left, backfilling ends there. Reads and writes may go on meanwhile.
///
/// Errors: InvalidArgument if the column family has no skip index factory, or several, of which a
/// file keeps one index only; NotSupported under FIFO compaction; else those of RocksDB. Incomplete
/// if `progress` returned false; if other compactions held all files left for half a second (try
/// again later); or if the files that a compaction wrote lack the index too, because their tables
/// are not block-based or a process without the factory wrote them.
BLOCKSIEVE_EXPORT rocksdb::Status BackfillSkipIndexes(
    rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
    const std::function<bool(const BackfillProgress&)>& progress = nullptr);

// Skip indexes that are in files beside their SSTs (sidecars; SkipIndexOptions::max_property_bytes
// says which are) do not go along when RocksDB copies SSTs. These functions take them along, or
// make them anew. Nothing depends on it but time: an SST without its sidecar is read as a whole.
//
// All are thread-safe. Errors are those of RocksDB and of the file system; MemoryLimit.

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
