#pragma once

#include <string>

namespace blocksieve::bench {

/// What must be known to judge a comparison with this machine's RocksDB.
std::string DescribeRocksDb();

}  // namespace blocksieve::bench
