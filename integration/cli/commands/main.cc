// The command `blocksieve`. Every subcommand is a file of its own, named for it.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <sstream>
#include <string>

#include "blocksieve/kernels.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/cli/commands/commands.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/interrupt.h"
#include "integration/cli/term/output.h"
#include "integration/cli/term/standard_streams.h"

namespace blocksieve::cli {
namespace {

constexpr int kFailureCode = 1;
constexpr int kUsageCode = 2;

constexpr const char* kDescription = "Filters and skip indexes for storage engines";

constexpr const char* kFooter = R"(Examples:
  blocksieve load --db paths.db --key 1 --index pkg=field:2 paths.tsv
  blocksieve scan --db paths.db --where "pkg = 'bash'"
  blocksieve inspect --db paths.db
  blocksieve verify --db paths.db
  blocksieve advise --db paths.db
  blocksieve size --fpr 0.01 --keys 1000000
  blocksieve load --help      the manual of a subcommand, with examples

Exit codes: 0 done; 1 something failed; 2 wrong arguments; 128 + n ended by signal n.)";

// "blocksieve scan": the command line as far as it was understood.
std::string NameOf(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app.get_name() : app.get_name() + " " + chosen.front()->get_name();
}

std::string SubcommandNames(CLI::App* app) {
  std::string names;
  for (const CLI::App* const each : app->get_subcommands([](CLI::App*) { return true; })) {
    names += (names.empty() ? "" : ", ") + each->get_name();
  }
  return names;
}

int Report(const std::string& name, const std::string& message, int code) {
  std::string text = name + ": " + message + "\n";
  if (code == kUsageCode) text += "See: " + name + " --help\n";
  WriteToStandardError(text);
  return code;
}

// What --help and --version are for.
int PrintHelp(const CLI::App& app, const CLI::Success& help) {
  std::ostringstream text;
  const int code = app.exit(help, text, text);
  try {
    Output output;
    output.Write(text.str());
    output.Flush();
  } catch (const Failure& failure) {
    return Report(NameOf(app), failure.what(), kFailureCode);
  }
  return code;
}

void WarnOfKernel() {
  if (KernelOverrideProblem().empty()) return;
  WriteToStandardError(fmt::format("blocksieve: BLOCKSIEVE_KERNEL={}; {} is used\n",
                                   KernelOverrideProblem(), KernelName(ActiveKernel())));
}

int Run(int argc, const char* const* argv) {
  CLI::App app(kDescription, "blocksieve");
  app.footer(kFooter);
  app.require_subcommand(0, 1);  // that there is one is checked below, and said in our words
  app.set_version_flag("--version", "blocksieve " BLOCKSIEVE_VERSION);
  Action action;
  AddLoadCommand(&app, &action);
  AddScanCommand(&app, &action);
  AddInspectCommand(&app, &action);
  AddVerifyCommand(&app, &action);
  AddAdviseCommand(&app, &action);
  AddSieveCommand(&app, &action);
  AddSizeCommand(&app, &action);
  AddCompletionCommand(&app, &action);
  AddManualCommand(&app, &action);
  try {
    app.parse(argc, argv);
    if (!action) FailUsage("a subcommand is required: {}", SubcommandNames(&app));
    WarnOfKernel();
    action();
    return 0;
  } catch (const CLI::Success& help) {
    return PrintHelp(app, help);
  } catch (const CLI::ParseError& error) {
    return Report(NameOf(app), error.what(), kUsageCode);
  } catch (const UsageError& error) {
    return Report(NameOf(app), error.what(), kUsageCode);
  } catch (const Interrupted& interrupted) {
    Report(NameOf(app), interrupted.what(), kFailureCode);
    return 128 + interrupted.signal();
  } catch (const std::bad_alloc&) {
    return Report(NameOf(app), "out of memory", kFailureCode);
  } catch (const std::exception& error) {
    return Report(NameOf(app), error.what(), kFailureCode);
  }
}

}  // namespace
}  // namespace blocksieve::cli

int main(int argc, char** argv) {
  try {
    blocksieve::cli::PrepareStandardStreams();
    // OPTIONS files of databases name the policy.
    blocksieve_rocksdb_register();
    return blocksieve::cli::Run(argc, argv);
  } catch (...) {  // there is not even memory for a message
    return blocksieve::cli::kFailureCode;
  }
}
