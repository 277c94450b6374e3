#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <span>
#include <string>

#include "bench/support/rows.h"

// Trees of RocksDB whose flushes and compactions happen when a job says so, and never by
// themselves: all that are compared have the same rows in the same places.

namespace blocksieve::bench {

/// A file size that gives some files to rows of so many bytes, and is at most RocksDB's default.
uint64_t TargetFileBytes(uint64_t num_bytes);

/// For a tree of rows of so many bytes, uncompressed.
rocksdb::Options HandShapedOptions(uint64_t num_bytes,
                                   const rocksdb::BlockBasedTableOptions& table);

/// Puts the rows of these numbers, in this order and without a log, and flushes them into one file.
rocksdb::Status PutAndFlush(rocksdb::DB& db, const Rows& rows, std::span<const uint32_t> order);

/// The same in pieces of RocksDB's default write buffer, which are then compacted, with all other
/// files of level 0, into files of at most `file_bytes` on `level`.
rocksdb::Status FillLevel(rocksdb::DB& db, const Rows& rows, std::span<const uint32_t> order,
                          int level, uint64_t file_bytes);

/// What must be known to judge a comparison with this machine's RocksDB.
std::string DescribeRocksDb();

}  // namespace blocksieve::bench
