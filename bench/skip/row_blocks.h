#pragma once

#include <rocksdb/db.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/support/rows.h"

namespace blocksieve::bench::skip {

/// Which data block holds the newest version of each row: the measure of the least that a scan
/// could read.
class RowBlocks {
 public:
  /// Reads all files, with readers of its own. All of their keys must be among those of `rows`, and
  /// nothing may be in memtables. Throws Failure, also if not as many blocks are found as RocksDB
  /// says it wrote.
  RowBlocks(rocksdb::DB& db, const Rows& rows);

  /// Different blocks that hold these rows.
  size_t Count(std::span<const uint32_t> rows) const;

  uint64_t num_blocks() const { return num_blocks_; }

 private:
  void ReadFile(const std::string& path, const Rows& rows);

  std::vector<uint64_t> block_of_row_;
  uint64_t num_blocks_ = 0;
};

}  // namespace blocksieve::bench::skip
