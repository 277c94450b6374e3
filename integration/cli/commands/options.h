#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "integration/cli/database/report.h"
#include "integration/rocksdb/compat/option_type.h"

namespace CLI {
class App;
}  // namespace CLI

// The subcommands, and how they declare options. Hides CLI11, whose templates take longer to
// compile than everything else here.

namespace blocksieve::cli {

/// The program: parses and runs its command line, prints errors, and returns the exit code.
int RunCommandLine(int argc, char** argv);

/// Runs a parsed command line. Throws Failure, UsageError, Interrupted.
using Action = std::function<void()>;

/// Adds a subcommand, with options, help and examples, to `app`. Parsing a command line that names
/// it sets `*action`, which must outlive `app` and runs it.
using AddCommand = void(CLI::App* app, Action* action);
AddCommand AddAdviseCommand, AddApplyCommand, AddCheckCommand, AddEnableCommand, AddIndexCommand,
    AddInspectCommand, AddLoadCommand, AddManualCommand, AddRevertCommand, AddRewriteCommand,
    AddScanCommand, AddSieveCommand, AddSizeCommand, AddVerifyCommand;

/// All subcommands in the order of the help.
inline constexpr AddCommand* kCommands[] = {
    AddLoadCommand,   AddScanCommand,   AddInspectCommand, AddVerifyCommand,  AddCheckCommand,
    AddAdviseCommand, AddEnableCommand, AddApplyCommand,   AddRewriteCommand, AddRevertCommand,
    AddIndexCommand,  AddSieveCommand,  AddSizeCommand,    AddManualCommand,
};

/// Checks the text of an option, and may rewrite it. Returns "" or a refusal: "VALUE; allowed:
/// RANGE", which is printed as "NAME is VALUE; allowed: RANGE".
using Check = std::function<std::string(std::string& text)>;

inline constexpr bool kRequired = true;

/// What an option sets: a flag, or a vector for a repeatable option.
using OptionValue =
    std::variant<bool*, std::string*, uint32_t*, uint64_t*, double*, std::optional<std::string>*,
                 std::optional<uint32_t>*, std::optional<uint64_t>*, std::optional<double>*,
                 std::vector<std::string>*>;

/// Adds an option that sets the value, which must outlive the parser. `name` with the name of the
/// value in the help: "--key N", or "FILE" for a positional argument.
void AddOption(CLI::App* command, OptionValue value, const std::string& name,
               const std::string& description, const Check& check = nullptr,
               bool is_required = false);

/// The options of a subcommand that works on a target.
struct TargetOptions {
  Target target;
  std::string format = "text";  ///< The word of --format.
};

/// The option --format, with text, json or, if `words` has it, prometheus.
void AddFormatOption(CLI::App* command, std::string* format,
                     const std::string& words = "text|json");

/// What a subcommand works on.
enum class Subject {
  kDatabase,        ///< All its column families, or one.
  kFamily,          ///< One, by default the default one.
  kDatabaseOrFile,  ///< Or FILE, a single SST.
  kAny,             ///< A database, or what another option names.
};

/// --db, --wal-dir, --data-dir and --column-family, and --format unless `formats` is null.
/// `families`: what --column-family sets, if it may be repeated.
void AddTargetOptions(CLI::App* command, TargetOptions* options, Subject subject,
                      const char* formats = "text|json",
                      std::vector<std::string>* families = nullptr);

void AddDropOption(CLI::App* command, Target* target);
void AddRateOption(CLI::App* command, uint64_t* bytes_per_second, const char* verb);
void AddMaxIndexBytesOption(CLI::App* command, std::optional<uint64_t>* max_index_bytes,
                            const char* default_value);

/// Allows an option only without the others. All are named, and were added before.
void Exclude(CLI::App* command, const char* option, std::initializer_list<const char*> others);

/// Allows an option only with the other.
void Need(CLI::App* command, const char* option, const char* other);

/// Adds a subcommand. Parsing a command line that names it sets `*action` to `run`.
CLI::App* AddSubcommand(CLI::App* app, Action* action, const char* name, const char* description,
                        const char* footer, Action run);

/// The same. Returns it with the options that parsing sets, and that `run` is called with.
template <class Options>
std::pair<CLI::App*, Options*> AddSubcommand(CLI::App* app, Action* action, const char* name,
                                             const char* description, const char* footer,
                                             void (*run)(const Options&)) {
  const auto options = std::make_shared<Options>();
  return {AddSubcommand(app, action, name, description, footer, [options, run] { run(*options); }),
          options.get()};
}

/// Adds a step of a subcommand, which needs one or more. Its options may follow them. Parsing
/// appends the given steps to `*given`, in order.
CLI::App* AddStep(CLI::App* command, const char* name, const char* description,
                  std::vector<std::string>* given);

/// Numbers from `low` to `high`. Whole numbers have no leading zeros; 1e6, 1.5M and 20k are
/// rewritten to digits.
Check InRange(double low, double high);
Check InRange(const rocksdb_plugin::OptionFacts& option);  ///< The range of an OptionTable.
Check WholeInRange(uint64_t low, uint64_t high);

/// Whole numbers of bytes; 10kB and 64MiB are rewritten, too.
Check BytesInRange(uint64_t low, uint64_t high);

/// Prevents OPTIONS files from naming a policy that no program has, or that builds no filters.
std::string KnownPolicy(const std::string& policy);

/// One of the words "text|json|csv".
Check OneOf(const std::string& words);

/// The document on one line, with the member `version` and a line end. Replaces bytes that are not
/// UTF-8, which names of files and columns may have.
std::string JsonLine(const Json& document);

/// Writes the report in the chosen format to standard output.
void WriteReport(const std::string& format, const Json& document, const std::string& text);

/// Sets the member `name` to the bytes, or `name`_hex to hexadecimal digits if they are not UTF-8.
void SetBytes(Json* object, const std::string& name, std::string_view bytes);

}  // namespace blocksieve::cli
