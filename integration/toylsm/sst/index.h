#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "integration/toylsm/sst/block.h"

namespace blocksieve::toylsm {

/// The last block of an SST, with the handles of all others; in memory while the file is open.
struct SstIndex {
  struct DataBlock {
    std::string last_key;
    BlockHandle handle;
  };
  std::string first_key;
  std::vector<DataBlock> blocks;  ///< at least one
  uint64_t num_entries = 0;

  /// Filter f covers the blocks from f * filter_granule_blocks on; 0: no filters.
  uint32_t filter_granule_blocks = 0;
  std::vector<BlockHandle> filters;

  BlockHandle skip_index;  ///< has a granule for each data block

  std::string Encode() const;
  /// Errors: Corruption.
  static Result<SstIndex> Decode(ByteView bytes);
};

}  // namespace blocksieve::toylsm
