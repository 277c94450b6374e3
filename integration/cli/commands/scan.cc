#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "blocksieve/predicate.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/engine/engine.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kDescription = "Print the rows of a database that match a condition";

constexpr const char* kFooter =
    R"help(Prints rows in key order, and reads only what the skip indexes of the database do not rule out. The
database is opened read-only; another process may have it open.

Conditions are on the columns that the database is indexed by:
  c = v   c != v   c < v   c <= v   c > v   c >= v   c [NOT] IN (v, ...)
  c [NOT] BETWEEN v AND v   c IS [NOT] NULL   c [NOT] LIKE 'pattern'
  c [NOT] STARTSWITH 'prefix'   c [NOT] HAS v   AND   OR   NOT   ( )   TRUE   FALSE
Strings are in single quotes; a quote inside is doubled. In patterns, % stands for any bytes and _ for
one character, and \ escapes. HAS finds a word, an element or, in an index of n-grams, a part of the
text.

A row is printed as its key, TAB and its value; with --format json as {"key":..., "value":...}, one
per line, with "key_hex" or "value_hex" for bytes that are not UTF-8.

Examples:
  blocksieve scan --db paths.db --where "pkg = 'bash'"
  blocksieve scan --db paths.db --where "pkg = 'bash' AND words HAS 'lib'" --explain
  blocksieve scan --db log.db --where "size BETWEEN 1000 AND 2000" --count
  blocksieve scan --db paths.db --where "NOT (pkg LIKE 'lib%')" --reverse --limit 10
  blocksieve scan --db paths.db --where "pkg = 'bash'" --explain --format json 2> explanation.json)help";

using Json = nlohmann::ordered_json;

struct ScanOptions {
  std::string db;
  std::string engine;  // empty: not given
  std::string where = "TRUE";
  ScanRequest request;
  bool no_index = false;
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
  Json row = Json::object();
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

Json ToJson(const ComparisonExplanation& one) {
  return {
      {"comparison", one.comparison}, {"column", one.column},
      {"is_used", one.is_used},       {"reason", one.reason},
      {"num_files", one.num_files},   {"num_granules", one.num_granules},
      {"selected", one.selected},
  };
}

Json ToJson(const ColumnExplanation& column) {
  return {
      {"name", column.name},
      {"num_probes", column.num_probes},
      {"index_bytes", column.index_bytes},
      {"filters", column.filters},
  };
}

template <class T>
Json ToJson(const std::vector<T>& all) {
  Json array = Json::array();
  for (const T& one : all) array.push_back(ToJson(one));
  return array;
}

// All members, by their names.
std::string ExplanationJson(const ScanExplanation& e) {
  return JsonLine({
      {"is_full_scan", e.is_full_scan},
      {"full_scan_reason", e.full_scan_reason},
      {"comparisons", ToJson(e.comparisons)},
      {"columns", ToJson(e.columns)},
      {"num_files", e.num_files},
      {"files_without_index", e.files_without_index},
      {"files_skipped", e.files_skipped},
      {"files_too_new", e.files_too_new},
      {"files_vanished", e.files_vanished},
      {"file_problems", e.file_problems},
      {"num_granules", e.num_granules},
      {"granules_selected", e.granules_selected},
      {"granules_always_match", e.granules_always_match},
      {"granules_too_new", e.granules_too_new},
      {"index_bytes_touched", e.index_bytes_touched},
      {"ranges_read", e.ranges_read},
      {"runs_read", e.runs_read},
      {"rows_read", e.rows_read},
      {"rows_rechecked", e.rows_rechecked},
      {"rows_stale", e.rows_stale},
      {"rows_returned", e.rows_returned},
      {"data_blocks_read", e.data_blocks_read},
      {"other_blocks_read", e.other_blocks_read},
      {"block_bytes_read", e.block_bytes_read},
  });
}

void PrintExplanation(const ScanExplanation& explanation, OutputFormat format) {
  term::WriteToStandardError(format == OutputFormat::kJson ? ExplanationJson(explanation)
                                                           : explanation.ToText());
}

void RunScan(const ScanOptions& options) {
  const std::unique_ptr<ReadDatabase> database =
      EngineOf(options.db, options.engine).Open(options.db);
  const Predicate predicate = ParseWhere(options, database->Indexes());
  ScanRequest request = options.request;
  request.use_index = !options.no_index;
  const std::unique_ptr<RowScan> scan = database->Scan(predicate, request);

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
  ScanRequest& request = options->request;
  CLI::App* const command = AddSubcommand(app, "scan", kDescription, kFooter);
  AddDatabaseOption(command, &options->db, "the directory of the database");
  AddEngineOption(command, &options->engine, "the engine of the database; found out if not given");
  AddOption(command, &options->where,
            {"--where", "CONDITION", "the condition; without it, all rows match"});
  AddFlag(command, &request.explain, "--explain",
          "report on standard error what was read, and why not less");
  AddFlag(command, &options->no_index, "--no-index", "read everything, for comparison");
  AddFlag(command, &options->count, "--count", "print only the number of rows");
  AddOption(command, &request.limit,
            {"--limit", "N", "stop after so many rows",
             WholeInRange(1, std::numeric_limits<uint64_t>::max())});
  AddFlag(command, &request.reverse, "--reverse", "go from the greatest key to the least");
  AddFormatOption(command, &options->format);
  SetAction(command, action, [options] { RunScan(*options); });
}

}  // namespace blocksieve::cli
