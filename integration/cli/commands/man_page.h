#pragma once

#include <string>

#include "integration/cli/commands/command_tree.h"

namespace blocksieve::cli {

/// The manual page of section 1, for man(7) macros: all subcommands, with their options, help and
/// examples.
std::string ManPage(const CommandEntry& root, const std::string& version);

}  // namespace blocksieve::cli
