#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace blocksieve::bench {

/// What a reader of results must know of the machine and of this build: "cpu", "cores",
/// "memory_bytes", "operating_system", "rocksdb", "kernel", "compiler" and "build_type".
nlohmann::ordered_json DescribeMachine();

/// The version of the loaded RocksDB, and what its build means for comparisons.
std::string DescribeRocksDb();

}  // namespace blocksieve::bench
