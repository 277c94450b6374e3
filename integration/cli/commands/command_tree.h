#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

// The command line as the parser knows it. Help, completions and the manual page come from
// it, so they cannot be out of date.

namespace blocksieve::cli {

struct OptionEntry {
  std::vector<std::string> names;  ///< With dashes; empty for a positional argument.
  std::string value;               ///< "N", "DIR", "text|json", "FILE"; empty for a flag.
  std::string description;
  bool is_required = false;
  bool is_repeatable = false;

  bool is_positional() const { return names.empty(); }
};

/// How to complete the value of an option.
enum class ValueKind { kNone, kDirectory, kFile, kWords, kOther };
ValueKind KindOfValue(const OptionEntry& option);

/// Splits a text at a separator.
std::vector<std::string> Split(const std::string& text, char separator);

/// For kWords: "text|json" as "text" and "json".
std::vector<std::string> WordsOfValue(const OptionEntry& option);

struct CommandEntry {
  std::string path;  ///< "blocksieve sieve push"
  std::string description;
  std::string footer;  ///< End of the help: explanations and examples.
  std::vector<OptionEntry> options;
  std::vector<CommandEntry> subcommands;

  std::string name() const;  ///< The last word of the path.
};

CommandEntry DescribeCommand(const CLI::App& app);

/// The output of --help. CLI11's own help depends on its version: 2.6 reflows the tables and
/// examples in footers.
std::string HelpText(const CommandEntry& command);

/// Describes a wrong command line, in the order typed, with suggestions for unknown words.
std::string DescribeParseError(const CLI::App& app, const CLI::ParseError& error,
                               const std::vector<std::string>& arguments);

}  // namespace blocksieve::cli
