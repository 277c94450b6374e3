#include "blocksieve/rocksdb/skip_scan.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "blocksieve/predicate.h"
#include "blocksieve/rocksdb/skip_index.h"
#include "integration/cli/bytes_text.h"
#include "integration/cli/commands.h"
#include "integration/cli/common_options.h"
#include "integration/cli/database.h"
#include "integration/cli/explanation_json.h"
#include "integration/cli/failure.h"
#include "integration/cli/output.h"
#include "integration/cli/standard_streams.h"
#include "integration/cli/text_position.h"

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
  blocksieve scan --db paths.db --where "size BETWEEN 1000 AND 2000" --count
  blocksieve scan --db paths.db --where "NOT (pkg LIKE 'lib%')" --reverse --limit 10
  blocksieve scan --db paths.db --where "pkg = 'bash'" --explain --format json 2> explanation.json)help";

struct ScanCommandOptions {
  std::string db;
  std::string where = "TRUE";
  bool explain = false;
  bool no_index = false;
  bool count = false;
  bool reverse = false;
  uint64_t limit = 0;  // 0: none
  OutputFormat format = OutputFormat::kText;
};

Predicate ParseWhere(const ScanCommandOptions& options, const SkipIndexSummary& indexes) {
  size_t position = 0;
  Result<Predicate> predicate = Predicate::Parse(options.where, indexes.columns, &position);
  if (predicate.ok()) return *std::move(predicate);
  const std::string& message = predicate.status().message();
  if (position == 0) FailUsage("--where: {}", message);
  FailUsage("--where, {}\n{}", message, PointAt(options.where, position));
}

void WriteRow(const SkipScan& scan, OutputFormat format, Output* output) {
  const std::string_view key = scan.key().ToStringView();
  const std::string_view value = scan.value().ToStringView();
  if (format == OutputFormat::kText) {
    output->Write(key);
    output->Write("\t");
    output->WriteLine(value);
    return;
  }
  nlohmann::ordered_json row = nlohmann::ordered_json::object();
  SetBytes(&row, "key", key);
  SetBytes(&row, "value", value);
  output->WriteLine(row.dump());
}

// Returns the number of rows.
uint64_t WriteRows(const ScanCommandOptions& options, SkipScan* scan, Output* output) {
  uint64_t count = 0;
  for (; scan->Valid() && output->is_wanted(); scan->Next()) {
    ++count;
    if (!options.count) WriteRow(*scan, options.format, output);
  }
  if (options.count && scan->status().ok()) {
    output->WriteLine(options.format == OutputFormat::kJson ? fmt::format("{{\"count\":{}}}", count)
                                                            : std::to_string(count));
  }
  output->Flush();
  return count;
}

void PrintExplanation(const ScanExplanation& explanation, OutputFormat format) {
  WriteToStandardError(format == OutputFormat::kJson ? ExplanationJson(explanation) + "\n"
                                                     : explanation.ToText());
}

void RunScan(const ScanCommandOptions& options) {
  const std::unique_ptr<rocksdb::DB> db = OpenReadOnly(options.db);
  SkipIndexSummary indexes;
  rocksdb::Status status = ReadSkipIndexes(db.get(), nullptr, &indexes);
  if (!status.ok()) {
    Fail("cannot read the indexes of database {}: {}", options.db, status.ToString());
  }
  const Predicate predicate = ParseWhere(options, indexes);

  SkipScanOptions scan_options;
  scan_options.limit = options.limit;
  scan_options.reverse = options.reverse;
  scan_options.use_index = !options.no_index;
  scan_options.explain = options.explain;
  std::unique_ptr<SkipScan> scan;
  status = SkipScan::Create(db.get(), nullptr, predicate, scan_options, &scan);
  if (!status.ok()) Fail("cannot scan database {}: {}", options.db, status.ToString());

  Output output;
  const uint64_t count = WriteRows(options, scan.get(), &output);
  if (options.explain) PrintExplanation(scan->Explain(), options.format);
  if (!scan->status().ok()) {
    Fail("cannot read on in database {} after {} rows: {}", options.db, count,
         scan->status().ToString());
  }
}

}  // namespace

void AddScanCommand(CLI::App* app, Action* action) {
  const auto options = std::make_shared<ScanCommandOptions>();
  CLI::App* const command = app->add_subcommand("scan", kDescription);
  command->footer(kFooter);

  command->add_option("--db", options->db, "the directory of the database")
      ->type_name("DIR")
      ->required();
  command->add_option("--where", options->where, "the condition; without it, all rows match")
      ->type_name("CONDITION");
  command->add_flag("--explain", options->explain,
                    "say on standard error what was read, and why not less");
  command->add_flag("--no-index", options->no_index, "read everything, for comparison");
  command->add_flag("--count", options->count, "print the number of rows only");
  command->add_option("--limit", options->limit, "end after so many rows")
      ->type_name("N")
      ->check(InRange(uint64_t{1}, std::numeric_limits<uint64_t>::max()));
  command->add_flag("--reverse", options->reverse, "from the greatest key to the least");
  AddFormatOption(command, &options->format);

  command->callback([options, action] { *action = [options] { RunScan(*options); }; });
}

}  // namespace blocksieve::cli
