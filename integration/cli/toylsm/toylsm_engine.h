#pragma once

#include "integration/cli/engine/engine.h"
#include "integration/cli/toylsm/stored_toylsm.h"

// The parts of ToyLsmEngine, a file each.

namespace blocksieve::cli {

std::unique_ptr<LoadedDatabase> LoadToyLsm(const LoadTarget& target);
std::unique_ptr<ReadDatabase> OpenToyLsm(const std::string& path);
std::vector<FilePlace> ListToyLsmFiles(const std::string& path);
std::unique_ptr<TableFile> OpenToyLsmFile(const FilePlace& place);
bool IsToyLsmFile(ByteView end);

}  // namespace blocksieve::cli
