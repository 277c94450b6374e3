#pragma once

#include <string>
#include <string_view>

namespace blocksieve::rocksdb_plugin {

/// Generation of the filter interface in RocksDB `version` ("7.8.3"); 0 if the version is older
/// than the first, newer than the last that was compared, or no version at all.
int AbiGenerationOf(std::string_view version);

/// Why the classes of filter_bits_abi.h must not be handed to a RocksDB library that calls itself
/// `loaded_version`; empty if they may.
std::string AbiProblem(std::string_view loaded_version);

/// AbiProblem of the library that this process has loaded.
const std::string& LoadedAbiProblem();

}  // namespace blocksieve::rocksdb_plugin
