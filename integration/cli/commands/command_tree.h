#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

// The command line as the parser knows it. Help, completions and the manual page come from
// it, so they cannot be out of date.

namespace blocksieve::cli {

/// The names of an option, with dashes; empty for a positional argument.
std::vector<std::string> NamesOf(const CLI::Option& option);

/// "N", "DIR", "text|json", "FILE"; "" for a flag.
std::string ValueOf(const CLI::Option& option);

bool IsRepeatable(const CLI::Option& option);
/// "blocksieve sieve push"
std::string PathOf(const CLI::App& command);

/// The subcommands that help shows.
std::vector<const CLI::App*> SubcommandsOf(const CLI::App& command);

/// The output of --help. CLI11's own help depends on its version: 2.6 reflows the tables and
/// examples in footers.
std::string HelpText(const CLI::App& command);

/// Describes a wrong command line, in the order typed, with suggestions for unknown words.
std::string DescribeParseError(const CLI::App& app, const CLI::ParseError& error,
                               const std::vector<std::string>& arguments);

}  // namespace blocksieve::cli
