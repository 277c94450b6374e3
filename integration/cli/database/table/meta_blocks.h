#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <string>

namespace blocksieve::cli {

/// The names of the meta blocks of a block-based table that this RocksDB does not know, with
/// commas;
/// "" without any. RocksDB ends the process that checks such a table if it was built with
/// assertions, as Debian's is: tables of RocksDB 2, of Pebble, with a block index of a later
/// RocksDB. "any" if the table does not list them as RocksDB does.
std::string UnknownMetaBlocks(const std::string& path);

}  // namespace blocksieve::cli
