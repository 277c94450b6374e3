#pragma once

#include <string>

#include "integration/cli/commands/command_tree.h"

namespace blocksieve::cli {

/// A script that teaches bash, from version 4.4 on, to complete the command.
std::string BashCompletion(const CommandEntry& root);

}  // namespace blocksieve::cli
