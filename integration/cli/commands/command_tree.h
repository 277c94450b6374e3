#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

// What the command line accepts, as the parser knows it. Help, completions and the manual page are
// made from this, so they cannot be out of date.

namespace blocksieve::cli {

struct OptionEntry {
  std::vector<std::string> names;  ///< With their dashes; a positional argument has none.
  std::string value;               ///< "N", "DIR", "text|json", "FILE"; empty: it takes no value.
  std::string description;
  bool is_required = false;
  bool is_repeatable = false;  ///< Takes several values.

  bool is_positional() const { return names.empty(); }
};

/// What to offer for the value of an option.
enum class ValueKind { kNone, kDirectory, kFile, kWords, kOther };
ValueKind KindOfValue(const OptionEntry& option);

/// The parts of a text, without the separators between them.
std::vector<std::string> Split(const std::string& text, char separator);

/// Of kWords: "text|json" as "text" and "json".
std::vector<std::string> WordsOfValue(const OptionEntry& option);

struct CommandEntry {
  std::string path;  ///< "blocksieve sieve push"
  std::string description;
  std::string footer;  ///< What the help ends with.
  std::vector<OptionEntry> options;
  std::vector<CommandEntry> subcommands;

  std::string name() const;  ///< The last word of the path.
};

CommandEntry DescribeCommand(const CLI::App& app);

/// The command and all below it, each before its own subcommands.
std::vector<const CommandEntry*> AllCommands(const CommandEntry& root);

/// What --help prints. The parser's own depends on its version: that of CLI11 2.6 takes the
/// tables and examples in our footers for text, and fills their lines.
std::string HelpText(const CommandEntry& command);

/// What is wrong with a command line, in the order in which it was typed, with what was probably
/// meant in place of words that nobody knows.
std::string DescribeParseError(const CLI::App& app, const CLI::ParseError& error,
                               const std::vector<std::string>& arguments);

}  // namespace blocksieve::cli
