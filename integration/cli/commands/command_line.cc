// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rocksdb/version.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <sstream>

#include "blocksieve/rocksdb/enable.h"
#include "integration/cli/commands/options.h"
#include "lib/base/kernels.h"

// The command line of `blocksieve`. Every subcommand is a file of its own, named after it. Help and
// the manual page come from what the parser knows, so they cannot be out of date.

namespace blocksieve::cli {
namespace {

// CLI11's own help, but later versions reflow the tables and examples in footers, and the options
// that one excludes are in no order.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* command, std::string name,
                        CLI::AppFormatMode mode) const override {
    return make_description(command) + make_usage(command, std::move(name)) +
           make_positionals(command) + make_groups(command, mode) +
           make_subcommands(command, mode) + "\n" + command->get_footer() + "\n";
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = option->get_type_name();
    if (!text.empty()) text.insert(0, " ");
    if (option->get_items_expected_max() > 1) text += " ...";
    return text + (option->get_required() ? " REQUIRED" : "");
  }
};

constexpr const char* kEnvironment =
    R"help(  BLOCKSIEVE_KERNEL   the instruction set for building and probing filters: scalar, avx2, avx512 or
                      neon. If it is not set, or not supported by the processor, the fastest
                      supported one is used. Results do not depend on it.)help";

// Escapes roff requests, and characters that roff would replace by others outside ASCII.
std::string EscapeForRoff(std::string_view text) {
  static const std::map<char, std::string_view> kEscapes = {
      {'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"}, {'`', "\\(ga"},
      {'^', "\\(ha"}, {'~', "\\(ti"}, {'"', "\\(dq"}};
  std::string escaped = text.starts_with('.') ? "\\&" : "";
  for (const char& c : text) {
    const auto found = kEscapes.find(c);
    escaped += found == kEscapes.end() ? std::string_view(&c, 1) : found->second;
  }
  return escaped;
}

// The text as it is.
std::string Body(const std::string& text) {
  std::string body = ".nf\n";
  for (const std::string& line : CLI::detail::split(text, '\n')) body += EscapeForRoff(line) + "\n";
  return body + ".fi\n";
}

constexpr const char* kManualFooter =
    R"(Prints the help of all subcommands as a roff page. Installed packages include it: man blocksieve.

Examples:
  blocksieve manual | man -l -)";

std::string ManPage(const CLI::App& root) {
  const std::string name = root.get_name();
  const auto help = [](const CLI::App& command, const std::string& path) {
    return Body(HelpFormatter().make_help(&command, path, CLI::AppFormatMode::Normal));
  };
  std::string text =
      fmt::format(".TH BLOCKSIEVE 1 \"\" \"{} " BLOCKSIEVE_VERSION "\" \"User Commands\"\n", name);
  text += ".SH NAME\n" + name + " \\- " + EscapeForRoff(root.get_description()) + "\n";
  text += ".SH SYNOPSIS\n" + help(root, name) + ".SH SUBCOMMANDS\n";
  for (const CLI::App* const command : root.get_subcommands({})) {
    const std::string path = name + " " + command->get_name();
    text += ".SS " + EscapeForRoff(path) + "\n" + help(*command, path);
  }
  return text + ".SH ENVIRONMENT\n" + Body(kEnvironment);
}

constexpr const char* kDescription = "Filters and skip indexes for RocksDB";

constexpr const char* kFooter = R"(Examples:
  blocksieve load --db paths.db --key 1 --index pkg=field:1 paths.tsv
  blocksieve scan --db paths.db --where "pkg = 'bash'"
  blocksieve inspect --db paths.db
  blocksieve verify --db paths.db
  blocksieve advise --db paths.db
  blocksieve size --fpr 0.01 --keys 1000000
  blocksieve load --help      the manual of a subcommand, with examples

With --format json, errors are JSON on standard error, too. All documents, except the rows of scan,
have a version, which is 3 and changes when members are renamed or removed.

Exit codes: 0 success; 1 failure; 2 wrong arguments; 128 + n terminated by signal n.)";

std::vector<std::string> NamesOfSubcommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands({}))
    names.push_back(command->get_name());
  return names;
}

// Works on command lines that cannot be parsed, too.
bool WantsJson(const std::vector<std::string>& arguments) {
  const std::string two_words[] = {"--format", "json"};
  return std::ranges::find(arguments, "--format=json") != arguments.end() ||
         std::search(arguments.begin(), arguments.end(), std::begin(two_words),
                     std::end(two_words)) != arguments.end();
}

std::string ErrorJson(const std::string& name, const char* message, int exit_code) {
  return JsonLine({{"error", {{"command", name}, {"message", message}, {"exit_code", exit_code}}}});
}

void WarnOfKernel() {
  if (KernelOverrideProblem().empty()) return;
  term::WriteToStandardError(fmt::format("blocksieve: BLOCKSIEVE_KERNEL={}; {} is used\n",
                                         KernelOverrideProblem(), KernelName(ActiveKernel())));
}

// Describes a wrong command line, in the order typed.
std::string DescribeParseError(const CLI::App& app, const CLI::ParseError& error,
                               const std::vector<std::string>& arguments) {
  std::vector<std::string> unexpected = app.remaining(/*recurse=*/true);
  std::ranges::stable_sort(unexpected, {}, [&](const std::string& argument) {
    return std::ranges::find(arguments, argument) - arguments.begin();
  });
  std::string problem = error.what();
  // dynamic_cast does not compile if RocksDB, and so the command, is built without RTTI.
  const auto is = [&](CLI::ExitCodes code) {
    return error.get_exit_code() == static_cast<int>(code);
  };
  if (is(CLI::ExitCodes::ArgumentMismatch)) {
    problem = problem.substr(0, problem.find(": ")) + " requires a value";
  }
  // A validator's refusal: "--keys: 0; allowed: 1 to 5" becomes "--keys is 0; allowed: 1 to 5".
  if (const size_t colon = problem.find(": ");
      is(CLI::ExitCodes::ValidationError) && colon != problem.npos) {
    problem.replace(colon, 2, " is ");
  }
  if (unexpected.empty()) return problem;
  // Arguments after an unknown subcommand are not worth a message.
  if (app.get_subcommands().empty() && !unexpected[0].starts_with('-')) {
    return fmt::format("unknown subcommand: {}; allowed: {}", term::Shorten(unexpected[0]),
                       fmt::join(NamesOfSubcommands(app), ", "));
  }
  for (std::string& argument : unexpected) argument = term::Shorten(argument);
  const std::string message = fmt::format(
      "unexpected argument{}: {}", unexpected.size() == 1 ? "" : "s", fmt::join(unexpected, " "));
  // A missing option was probably misspelt.
  return is(CLI::ExitCodes::ExtrasError) ? message : fmt::format("{}; {}", problem, message);
}

// Parses and runs the command line. Appends the subcommand to `name` once it is known.
void Run(const std::vector<std::string>& arguments, std::string* name) {
  CLI::App app(kDescription, *name);
  app.footer(kFooter);
  app.formatter(std::make_shared<HelpFormatter>());  // before there are subcommands
  app.require_subcommand(0, 1);                      // without one, the help is printed
  // RocksDB reads tables of older versions only, and a standalone command has its own RocksDB.
  app.set_version_flag("--version", fmt::format("blocksieve " BLOCKSIEVE_VERSION " (RocksDB {})",
                                                rocksdb::GetRocksVersionAsString()));
  Action action;
  for (AddCommand* const add : kCommands) add(&app, &action);
  const auto add_subcommand = [&] {
    for (const CLI::App* const chosen : app.get_subcommands()) *name += " " + chosen->get_name();
  };
  try {
    // The order that CLI11 expects.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& help) {  // --help or --version
    add_subcommand();
    std::ostringstream text;
    app.exit(help, text, text);
    term::WriteToStandardOutput(text.str());
    return;
  } catch (const CLI::ParseError& error) {
    add_subcommand();
    throw term::UsageError(DescribeParseError(app, error, arguments));
  }
  add_subcommand();
  if (!action) return term::WriteToStandardOutput(app.help());
  WarnOfKernel();
  action();
}

}  // namespace

void AddManualCommand(CLI::App* app, Action* action) {
  AddSubcommand(app, action, "manual", "Print the manual page", kManualFooter,
                [app] { term::WriteToStandardOutput(ManPage(*app)); });
}

int RunCommandLine(int argc, char** argv) {
  std::string name = "blocksieve";
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const auto run = [&] {
    term::PrepareStandardStreams();
    // OPTIONS files name the policy.
    blocksieve_rocksdb_register();
    Run(arguments, &name);
  };
  return term::RunMain(name, run, WantsJson(arguments) ? ErrorJson : nullptr);
}

}  // namespace blocksieve::cli
