#pragma once

#include "integration/cli/engine/engine.h"

// The parts of RocksDbEngine, a file each.

namespace blocksieve::cli {

std::unique_ptr<LoadedDatabase> LoadRocksDb(const LoadTarget& target);
std::unique_ptr<ReadDatabase> OpenRocksDb(const std::string& path);
std::vector<FilePlace> ListRocksDbFiles(const std::string& path);
AskedRatesByFamily RatesAskedOfRocksDb(const std::string& path);
std::unique_ptr<TableFile> OpenRocksDbFile(const FilePlace& place);

}  // namespace blocksieve::cli
