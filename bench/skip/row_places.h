#pragma once

#include <rocksdb/db.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/support/rows.h"

namespace blocksieve::bench::skip {

/// Where a database keeps its rows: for each row number the data block and the granule that hold
/// the newest version. The measure of the least that a scan could read.
class RowPlaces {
 public:
  /// Reads all files, with readers of its own. All of their keys must be among those of `rows`,
  /// all files must have an index, and nothing may be in memtables. Throws Failure, also if not as
  /// many blocks are found as RocksDB says it wrote.
  RowPlaces(rocksdb::DB& db, const Rows& rows);

  /// Different blocks, or granules, that hold these rows.
  size_t CountBlocks(std::span<const uint32_t> rows) const;
  size_t CountGranules(std::span<const uint32_t> rows) const;

  /// Different blocks that these granules touch: the least that a scan of whole granules reads.
  size_t CountBlocksOfGranules(std::span<const uint32_t> rows) const;

  uint64_t num_blocks() const { return num_blocks_; }
  uint64_t num_granules() const { return blocks_of_granule_.size(); }

 private:
  struct BlockRange {
    uint64_t first;
    uint64_t last;
  };

  void ReadFile(const std::string& path, const Rows& rows);

  std::vector<uint32_t> block_of_row_;
  std::vector<uint32_t> granule_of_row_;
  std::vector<BlockRange> blocks_of_granule_;
  uint64_t num_blocks_ = 0;
};

}  // namespace blocksieve::bench::skip
