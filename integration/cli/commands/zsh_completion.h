#pragma once

#include <string>

#include "integration/cli/commands/command_tree.h"

namespace blocksieve::cli {

/// A file for zsh's $fpath, to be called _blocksieve, that completes the command.
std::string ZshCompletion(const CommandEntry& root);

}  // namespace blocksieve::cli
