#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"

// The part of RocksDB's block-based table format that leads to the filters of a file, to which its
// API gives no access. Every function reads hostile bytes; sizes and offsets are mere claims of the
// file until they have been checked against its length.
// https://github.com/facebook/rocksdb/wiki/Rocksdb-BlockBasedTable-Format

namespace blocksieve::cli {

struct BlockHandle {
  uint64_t offset = 0;
  uint64_t size = 0;  ///< Without the trailer.
};

/// Behind each block: a byte for the compression type, and a checksum of 32 bits.
inline constexpr size_t kBlockTrailerBytes = 5;

struct TableFooter {
  /// The last bytes of a file; older formats have fewer.
  static constexpr size_t kMaxBytes = 53;
  static constexpr uint32_t kMaxFormatVersion = 5;

  uint8_t checksum_type = 1;
  BlockHandle metaindex;
};

/// Whether the end of a file is that of a table in any of RocksDB's formats; of a block-based
/// table.
bool IsTable(ByteView end);
bool IsBlockBasedTable(ByteView end);

/// `end`: the last kMaxBytes of the file, or the whole file if it is shorter.
/// Errors: Corruption; NotSupported (a format version after RocksDB 7.8).
Result<TableFooter> DecodeTableFooter(ByteView end);

/// The entries of a block whose values are handles: the metaindex, or the index of filter
/// partitions. There, with `values_are_deltas`, a handle is stored as its difference from the one
/// before.
/// Errors: Corruption.
Result<std::vector<std::pair<std::string, BlockHandle>>> DecodeHandles(ByteView block,
                                                                       bool values_are_deltas);

/// Checks a block, with the compression type behind it, against the checksum of its trailer.
/// REQUIRES: the compression type is there. Errors: Corruption; NotSupported (an unknown type of
/// checksum).
Status CheckBlock(uint8_t checksum_type, ByteView block_and_type, uint32_t checksum);

}  // namespace blocksieve::cli
