#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

// The command line as the parser knows it. Help and the manual page come from it, so
// they cannot be out of date.

namespace blocksieve::cli {

/// The names of all options, with dashes.
std::vector<std::string> OptionNamesOf(const CLI::App& command);

/// The names of the subcommands that help shows.
std::vector<std::string> SubcommandNamesOf(const CLI::App& command);

/// The output of --help. CLI11's own help depends on its version: 2.6 reflows the tables and
/// examples in footers.
std::string HelpText(const CLI::App& command);

}  // namespace blocksieve::cli
