#pragma once

#include "integration/cli/engine/engine.h"

// The parts of RocksDbEngine that have files of their own.

namespace blocksieve::cli {

std::unique_ptr<LoadedDatabase> LoadRocksDb(const LoadTarget& target);
std::unique_ptr<ReadDatabase> OpenRocksDb(const std::string& path);
std::unique_ptr<TableFile> OpenRocksDbFile(const FilePlace& place);

}  // namespace blocksieve::cli
