#pragma once

#include <rocksdb/db.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/support/rows.h"

namespace blocksieve::bench::skip {

/// The data block of the newest version of each row: with it, the fewest blocks a scan could read.
class RowBlocks {
 public:
  /// Reads all files with readers of its own. REQUIRES: all keys of the files are in `rows`;
  /// memtables are empty. Throws Failure, also if RocksDB recorded another number of blocks.
  RowBlocks(rocksdb::DB& db, const Rows& rows);

  /// Number of distinct blocks that hold these rows.
  size_t Count(std::span<const uint32_t> rows) const;

  uint64_t num_blocks() const { return num_blocks_; }

 private:
  void ReadFile(const std::string& path, const Rows& rows);

  std::vector<uint64_t> block_of_row_;
  uint64_t num_blocks_ = 0;
};

}  // namespace blocksieve::bench::skip
