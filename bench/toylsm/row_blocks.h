#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/support/rows.h"
#include "integration/toylsm/db.h"

namespace blocksieve::bench::toy {

/// Which data block holds the newest version of each row: the measure of the least that a scan
/// could read.
class RowBlocks {
 public:
  /// Reads everything. The database must have just these keys, and its memtable must be empty.
  /// Throws Failure.
  RowBlocks(toylsm::Db& db, const Rows& rows);

  /// Different blocks that hold these rows.
  size_t Count(std::span<const uint32_t> rows) const;

  uint64_t num_blocks() const { return num_blocks_; }

 private:
  std::vector<uint64_t> block_of_row_;
  uint64_t num_blocks_ = 0;
};

}  // namespace blocksieve::bench::toy
