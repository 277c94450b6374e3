#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "integration/toylsm/sst/block.h"

// What a file of sorted entries has besides data and filter blocks; FORMAT.md describes the bytes.

namespace blocksieve::toylsm {

/// Everything needed to find the other blocks; in memory while the file is open.
struct SstIndex {
  struct DataBlock {
    std::string last_key;
    BlockHandle handle;
  };
  std::string first_key;
  std::vector<DataBlock> blocks;  ///< at least one
  uint64_t num_entries = 0;

  /// Filter f is for the blocks from f * filter_granule_blocks on; 0: there are none.
  uint32_t filter_granule_blocks = 0;
  std::vector<BlockHandle> filters;

  /// Granule g of the skip index is the blocks from g * value_granule_blocks on; 0: there is none.
  uint32_t value_granule_blocks = 0;
  BlockHandle skip_index;

  std::string Encode() const;
  /// Errors: Corruption.
  static Result<SstIndex> Decode(ByteView bytes);
};

/// The last bytes of a file.
struct SstFooter {
  static constexpr size_t kBytes = 48;

  BlockHandle index;
  uint64_t file_number = 0;

  std::string Encode() const;
  /// Errors: Corruption, NotSupported (a newer version).
  static Result<SstFooter> Decode(ByteView bytes);
};

}  // namespace blocksieve::toylsm
