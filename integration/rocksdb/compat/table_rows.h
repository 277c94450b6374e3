#pragma once

#include <rocksdb/comparator.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/types.h>
#include <rocksdb/version.h>

#include <memory>

// What an SST holds can be read as it is stored since RocksDB 9.3. Before, an SstFileReader shows
// the newest version of each row, and neither deletes nor of what type a row is.

#if ROCKSDB_MAJOR > 9 || (ROCKSDB_MAJOR == 9 && ROCKSDB_MINOR >= 3)
#define BLOCKSIEVE_READS_ALL_VERSIONS 1
#include <rocksdb/utilities/types_util.h>
#else
#define BLOCKSIEVE_READS_ALL_VERSIONS 0
#endif

namespace blocksieve::rocksdb_plugin {

inline constexpr bool kReadsAllVersions = BLOCKSIEVE_READS_ALL_VERSIONS;

/// Calls add(user key, value, type, sequence number) for each point entry of an open SST, in the
/// order of the file, until it returns false.
template <class Add>
rocksdb::Status ForEachEntry(rocksdb::SstFileReader* reader, const rocksdb::Comparator* comparator,
                             Add add) {
#if BLOCKSIEVE_READS_ALL_VERSIONS
  const auto entries = reader->NewTableIterator();
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    rocksdb::ParsedEntryInfo entry;
    rocksdb::Status status = rocksdb::ParseEntry(entries->key(), comparator, &entry);
    if (!status.ok()) return status;
    if (!add(entry.user_key, entries->value(), entry.type, entry.sequence)) break;
  }
  return entries->status();
#else
  static_cast<void>(comparator);
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> rows(reader->NewIterator(options));
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    if (!add(rows->key(), rows->value(), rocksdb::kEntryPut, rocksdb::SequenceNumber{0})) break;
  }
  return rows->status();
#endif
}

}  // namespace blocksieve::rocksdb_plugin
