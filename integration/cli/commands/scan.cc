#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "blocksieve/predicate.h"
#include "integration/cli/commands/commands.h"
#include "integration/cli/commands/common_options.h"
#include "integration/cli/commands/scan_json.h"
#include "integration/cli/engine/engine.h"
#include "integration/cli/engine/engine_choice.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kDescription = "Print the rows of a database that match a condition";

constexpr const char* kFooter =
    R"help(Rows come in key order, and only what the database's skip indexes leave is read. The database is
opened read-only; another process may have it open.

Conditions are on the columns that the database is indexed by:
  c = v   c != v   c < v   c <= v   c > v   c >= v   c [NOT] IN (v, ...)
  c [NOT] BETWEEN v AND v   c IS [NOT] NULL   c [NOT] LIKE 'pattern'
  c [NOT] STARTSWITH 'prefix'   c [NOT] HAS v   AND   OR   NOT   ( )   TRUE   FALSE
Strings stand in single quotes, a quote in them is doubled. In patterns % is any bytes, _ one
character, \ escapes. HAS finds a word, an element or, by n-grams, a part of the text.

A row is printed as its key, TAB and its value; with --format json as {"key":..., "value":...},
one per line, and what is no UTF-8 as "key_hex" or "value_hex".

Examples:
  blocksieve scan --db paths.db --where "pkg = 'bash'"
  blocksieve scan --db paths.db --where "pkg = 'bash' AND words HAS 'lib'" --explain
  blocksieve scan --db log.db --where "size BETWEEN 1000 AND 2000" --count
  blocksieve scan --db paths.db --where "NOT (pkg LIKE 'lib%')" --reverse --limit 10
  blocksieve scan --db paths.db --where "pkg = 'bash'" --explain --format json 2> explanation.json)help";

struct ScanOptions {
  std::string db;
  std::string engine;  // empty: not given
  std::string where = "TRUE";
  ScanRequest request;
  bool count = false;
  OutputFormat format = OutputFormat::kText;
};

Predicate ParseWhere(const ScanOptions& options, const SkipIndexSummary& indexes) {
  size_t position = 0;
  Result<Predicate> predicate = Predicate::Parse(options.where, indexes.columns, &position);
  if (predicate.ok()) return *std::move(predicate);
  const std::string& message = predicate.status().message();
  if (position == 0) term::FailUsage("--where: {}", message);
  term::FailUsage("--where, {}\n{}", message, term::PointAt(options.where, position));
}

void WriteRow(const RowScan& scan, OutputFormat format, term::Output* output) {
  if (format == OutputFormat::kText) {
    output->Write(scan.key());
    output->Write("\t");
    output->WriteLine(scan.value());
    return;
  }
  nlohmann::ordered_json row = nlohmann::ordered_json::object();
  SetBytes(&row, "key", scan.key());
  SetBytes(&row, "value", scan.value());
  output->WriteLine(row.dump());
}

// Returns the number of rows.
uint64_t WriteRows(const ScanOptions& options, RowScan* scan, term::Output* output) {
  uint64_t count = 0;
  for (; scan->Valid() && output->is_wanted(); scan->Next()) {
    ++count;
    if (!options.count) WriteRow(*scan, options.format, output);
  }
  if (options.count && scan->problem().empty()) {
    output->WriteLine(options.format == OutputFormat::kJson ? fmt::format("{{\"count\":{}}}", count)
                                                            : std::to_string(count));
  }
  output->Flush();
  return count;
}

void PrintExplanation(const ScanExplanation& explanation, OutputFormat format) {
  term::WriteToStandardError(format == OutputFormat::kJson ? ExplanationJson(explanation) + "\n"
                                                           : explanation.ToText());
}

void RunScan(const ScanOptions& options) {
  const std::unique_ptr<ReadDatabase> database =
      EngineOf(options.db, options.engine).Open(options.db);
  const Predicate predicate = ParseWhere(options, database->Indexes());
  const std::unique_ptr<RowScan> scan = database->Scan(predicate, options.request);

  term::Output output;
  const uint64_t count = WriteRows(options, scan.get(), &output);
  if (options.request.explain) PrintExplanation(scan->Explain(), options.format);
  if (const std::string problem = scan->problem(); !problem.empty()) {
    term::Fail("cannot read on in database {} after {} rows: {}", options.db, count, problem);
  }
}

}  // namespace

void AddScanCommand(CLI::App* app, Action* action) {
  const auto options = std::make_shared<ScanOptions>();
  CLI::App* const command = app->add_subcommand("scan", kDescription);
  command->footer(kFooter);

  command->add_option("--db", options->db, "the directory of the database")
      ->type_name("DIR")
      ->required();
  AddEngineOption(command, &options->engine, "what the database is of; found out if not given");
  command->add_option("--where", options->where, "the condition; without it, all rows match")
      ->type_name("CONDITION");
  command->add_flag("--explain", options->request.explain,
                    "say on standard error what was read, and why not less");
  command->add_flag(
      "--no-index", [options](int64_t) { options->request.use_index = false; },
      "read everything, for comparison");
  command->add_flag("--count", options->count, "print the number of rows only");
  command->add_option("--limit", options->request.limit, "end after so many rows")
      ->type_name("N")
      ->check(InRange(uint64_t{1}, std::numeric_limits<uint64_t>::max()));
  command->add_flag("--reverse", options->request.reverse, "from the greatest key to the least");
  AddFormatOption(command, &options->format);

  command->callback([options, action] { *action = [options] { RunScan(*options); }; });
}

}  // namespace blocksieve::cli
