#pragma once

#include <rocksdb/db.h>

#include <cstdint>
#include <string>

#include "blocksieve/rocksdb.h"
#include "tests/support/test_db.h"

namespace blocksieve::testing {

/// Keys all over, of which even ones are written, and odd ones never.
std::string RangeKey(uint64_t number);

/// Options with range filters, no automatic compaction, and small blocks.
DbConfig RangeConfig(FilterShape shape = FilterShape::kFull, const RangeFilterOptions& ranges = {});

/// A file of `keys` keys, those of other files between them.
void WriteRangeFile(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, uint64_t file,
                    uint64_t keys = 2000);

/// What was counted since.
RangeFilterCounts CountsSince(const RangeFilterCounts& before);

/// Seeks from keys that are not there, each with a bound right behind.
struct EmptySeeks {
  uint64_t seeks = 0;
  uint64_t found = 0;   // rows, of which there are none
  uint64_t blocks = 0;  // of data that they read
  RangeFilterCounts counts;
};
EmptySeeks SeekInVain(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                      const rocksdb::ReadOptions& read, uint64_t seeks = 1000);

/// With the options of PrepareRangeRead.
rocksdb::ReadOptions RangeRead();

}  // namespace blocksieve::testing
