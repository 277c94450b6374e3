#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/perf_context.h>

#include <cstdint>
#include <string>

#include "blocksieve/rocksdb.h"
#include "tests/support/test_db.h"

namespace blocksieve::testing {

/// Keys of the whole range. Tests write keys with even numbers only.
std::string RangeKey(uint64_t number);

/// Options with range filters unless there are prefixes, no automatic compaction, and small blocks.
DbConfig RangeConfig(FilterShape shape = FilterShape::kFull, EnableOptions features = {});

/// Writes a file of `keys` keys that interleave with those of other files.
void WriteRangeFile(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, uint64_t file,
                    uint64_t keys = 2000);

inline void WriteRangeFile(TestDb* db, uint64_t file, uint64_t keys = 2000) {
  WriteRangeFile(&db->db(), (*db)->DefaultColumnFamily(), file, keys);
}

/// The counts since `before`.
RangeFilterCounts CountsSince(const RangeFilterCounts& before);

/// Data blocks that were read, from disk or from the cache.
uint64_t DataBlocksRead(const rocksdb::PerfContext& perf);

/// Result of seeks from absent keys, each with a bound right after it.
struct EmptySeeks {
  uint64_t seeks = 0;
  uint64_t found = 0;   // rows found, expected 0
  uint64_t blocks = 0;  // data blocks read
  RangeFilterCounts counts;
};
EmptySeeks SeekEmptyRanges(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                           const rocksdb::ReadOptions& read, uint64_t seeks = 1000);

inline EmptySeeks SeekEmptyRanges(TestDb* db, const rocksdb::ReadOptions& read,
                                  uint64_t seeks = 1000) {
  return SeekEmptyRanges(&db->db(), (*db)->DefaultColumnFamily(), read, seeks);
}

/// The read options of PrepareRangeRead.
rocksdb::ReadOptions RangeRead();

}  // namespace blocksieve::testing
