#pragma once

#include <string>
#include <string_view>

namespace blocksieve::rocksdb_plugin {

/// The generation of the filter interface in RocksDB `version` ("7.8.3"). 0 if the version is older
/// than the first that is supported, newer than the last that was compared, or not a version.
int AbiGenerationOf(std::string_view version);

/// Why the classes of filter_bits_abi.h must not be used with a RocksDB library of version
/// `loaded_version`. Empty if they may.
std::string AbiProblem(std::string_view loaded_version);

/// The AbiProblem of the library that this process has loaded.
const std::string& LoadedAbiProblem();

}  // namespace blocksieve::rocksdb_plugin
