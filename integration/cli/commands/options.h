#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/cli/commands/commands.h"
#include "integration/cli/database/file_choice.h"

namespace CLI {
class Option;
}

// How subcommands declare their options. All of CLI11 that they need is behind this header, because
// its templates take longer to compile than everything else here.

namespace blocksieve::cli {

/// Says what is wrong with the text that was given for an option; empty: nothing. May rewrite it.
using Check = std::function<std::string(std::string& text)>;

struct OptionSpec {
  const char* name;         ///< "--key"; a positional argument's is "FILE".
  const char* value;        ///< What the help calls its value: "N"; "" for positional arguments.
  std::string description;  ///< For the help.
  Check check = nullptr;
  bool is_required = false;
};

inline constexpr bool kRequired = true;

/// Adds an option that sets `*value`, which must outlive the parser. T is string, uint32_t,
/// uint64_t or double, an optional of one of these, or a vector of strings; options of vectors may
/// be given several times.
template <class T>
CLI::Option* AddOption(CLI::App* command, T* value, const OptionSpec& spec);

/// Adds an option without a value.
void AddFlag(CLI::App* command, bool* value, const char* name, const char* description);

/// The option --format text|json.
enum class OutputFormat { kText, kJson };
void AddFormatOption(CLI::App* command, OutputFormat* format);

/// One with further words, as "text|json|csv", which may be given several times.
void AddFormatOption(CLI::App* command, const char* words, const char* description,
                     std::function<void(const std::string&)> set);

/// The option --db DIR, which is required.
void AddDatabaseOption(CLI::App* command, std::string* path, const char* description);

/// The options --db and FILE.
void AddFileOptions(CLI::App* command, FileChoice* choice);

/// The option --bytes-per-second. `deed`: "read".
CLI::Option* AddRateOption(CLI::App* command, uint64_t* bytes_per_second, const char* verb);

/// The option --max-index-bytes. `default_value`: "8MiB".
CLI::Option* AddMaxIndexBytesOption(CLI::App* command, std::optional<uint64_t>* max_index_bytes,
                                    const char* default_value);

/// Not both of them may be given.
void Exclude(CLI::Option* one, CLI::Option* other);

/// Nor `one` without the other.
void Need(CLI::Option* one, CLI::Option* other);

CLI::App* AddSubcommand(CLI::App* app, const char* name, const char* description,
                        const char* footer);

/// What is to be done once a command line that names the subcommand has been parsed.
void SetAction(CLI::App* command, Action* action, std::function<void()> run);

/// A subcommand, and the options to be set by parsing, with which `run` is then called.
template <class Options>
std::pair<CLI::App*, Options*> AddSubcommand(CLI::App* app, Action* action, const char* name,
                                             const char* description, const char* footer,
                                             void (*run)(const Options&)) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command = AddSubcommand(app, name, description, footer);
  SetAction(command, action, [options, run] { run(*options); });
  return {command, options.get()};
}

/// Adds a step of a subcommand. At least one step must be given, and several may be; options of the
/// subcommand may follow them.
CLI::App* AddStep(CLI::App* command, const char* name, const char* description);

/// The names of the steps that were given, in their order.
std::vector<std::string> GivenSteps(const CLI::App& command);

/// Numbers from `low` to `high`. Whole numbers have no leading zeros; they may be written as
/// 1e6, 1.5M or 20k, which is rewritten to digits.
Check InRange(double low, double high);
Check WholeInRange(uint64_t low, uint64_t high);

/// Whole numbers of bytes, also as 10kB or 64MiB, which it rewrites.
Check BytesInRange(uint64_t low, uint64_t high);

/// The rates that ChooseLayout accepts.
Check TargetFprs();

/// One of several words, "text|json|csv".
Check OneOf(const std::string& words);

/// What `version` of a JSON document means. Grows when members change or go, not when some are
/// added.
inline constexpr int kJsonVersion = 1;

/// The document on one line, or indented, with a line end and the member `version`. Names of files,
/// columns and the like may be any bytes; JSON must be UTF-8, so others are replaced.
std::string JsonLine(const nlohmann::ordered_json& document);
std::string JsonText(const nlohmann::ordered_json& document);

/// Sets the member `name` to the bytes, or `name`_hex to their digits if they are not UTF-8.
void SetBytes(nlohmann::ordered_json* object, const std::string& name, std::string_view bytes);

}  // namespace blocksieve::cli
