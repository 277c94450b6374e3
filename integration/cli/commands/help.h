#pragma once

#include <string>

#include "integration/cli/commands/command_tree.h"

namespace blocksieve::cli {

/// What --help prints. The parser's own depends on its version: that of CLI11 2.6 takes the
/// tables and examples in our footers for text, and fills their lines.
std::string HelpText(const CommandEntry& command);

}  // namespace blocksieve::cli
