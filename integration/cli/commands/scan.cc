// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>

#include "blocksieve/predicate.h"
#include "blocksieve/rocksdb/skip_index.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/maintenance/skip_indexes.h"
#include "integration/rocksdb/scan/scan_context.h"

namespace blocksieve {

BLOCKSIEVE_TO_JSON(ComparisonExplanation, comparison, column, is_used, reason, num_files,
                   num_granules, granules_selected)
BLOCKSIEVE_TO_JSON(ColumnExplanation, name, num_probes, index_bytes, filters)
BLOCKSIEVE_TO_JSON(ScanExplanation, is_full_scan, full_scan_reason, comparisons, columns, num_files,
                   files_not_reached, files_without_index, files_pruned, files_too_new,
                   files_vanished, file_problems, num_granules, granules_selected,
                   granules_always_match, granules_too_new, granules_counted, granules_read,
                   index_bytes_touched, key_ranges_read, granule_ranges_read, rows_planned,
                   rows_read, rows_rechecked, rows_stale, rows_returned, data_blocks_read,
                   other_blocks_read, block_bytes_read)

namespace cli {
namespace {

constexpr const char* kScanFooter =
    R"help(Prints matching rows in key order and reads only the granules that the skip indexes cannot rule
out. The database is opened read-only; another process may have it open.

Conditions (c is an indexed column, v a value):
  c = v   c != v   c < v   c <= v   c > v   c >= v   c [NOT] IN (v, ...)
  c [NOT] BETWEEN v AND v   c IS [NOT] NULL   c [NOT] LIKE 'pattern'
  c [NOT] STARTSWITH 'prefix'   c [NOT] HAS v   AND   OR   NOT   ( )   TRUE   FALSE
[condition] ORDER BY c [ASC|DESC] LIMIT n prints the first n matching rows by that column, without
rows that have no value. Column names that are words of this language, or have other characters than
letters, digits and _, must be in double quotes: "in" = 5.

Numbers: a value of a numeric column is a number of its type, quoted or not; anything else is no
value (IS NULL). In conditions, status = '500' equals status = 500, and 'five' is an error. Only
float columns accept nan and inf; nan equals nan and sorts after all other numbers. A number beyond
the range of its type (1e400) is infinite in a float column; in an int or uint column it is no
value, and in a condition it lies above or below all values. In JSON, a number without quotes that
exceeds a double (1e400, NaN) is malformed; it and all members after it have no value.

Strings are in single quotes; a quote inside is doubled. In a LIKE pattern, % matches any bytes and
_ one character, and \ escapes. HAS matches a word, an array element or, in an n-gram index, a
substring.

Output: key, TAB, value; with --format json, one {"key":..., "value":...} per line, with "key_hex"
or "value_hex" for bytes that are not UTF-8. --explain counts two ways of reading. A key range is
read from all files together, as by an iterator. A granule range is read from one file; its rows are
then looked up again (re-checked), and dropped if they were deleted or overwritten (stale).

Examples:
  blocksieve scan --db paths.db --where "pkg = 'bash'"
  blocksieve scan --db paths.db --where "pkg = 'bash' AND words HAS 'lib'" --explain
  blocksieve scan --db log.db --where "size BETWEEN 1000 AND 2000" --count
  blocksieve scan --db log.db --where "code > 2 ORDER BY size DESC LIMIT 10"
  blocksieve scan --db paths.db --where "NOT (pkg LIKE 'lib%')" --reverse --limit 10
  blocksieve scan --db paths.db --where "pkg = 'bash'" --explain --format json 2> explanation.json)help";

struct ScanOptions : TargetOptions {
  std::string where = "TRUE";
  SkipScanOptions scan;
  bool no_index = false;
  bool count = false;
};

// Those of the files; if they define a name differently, as the newest does. Without any, those of
// the block index.
std::vector<Column> ListColumns(const GuardedDb& db, const std::string& family) {
  std::map<std::string, Column> by_name;
  for (const std::string& definition : ColumnsInFiles(db, family)) {
    const Result<Column> column = Column::Parse(definition);
    if (column.ok()) by_name.insert_or_assign(column->name(), *column);
  }
  std::vector<Column> columns;
  for (const auto& [name, column] : by_name) columns.push_back(column);
  ColumnList of_options;
  if (columns.empty() &&
      rocksdb_plugin::FindColumns(db->GetOptions(db.FindHandle(family)), &of_options).ok()) {
    columns.assign(of_options.begin(), of_options.end());
  }
  return columns;
}

Query ParseWhere(const ScanOptions& options, const GuardedDb& db) {
  const std::vector<Column> columns = ListColumns(db, *options.target.family);
  size_t position = 0;
  Result<Query> query = Query::Parse(options.where, columns, &position);
  if (query.ok()) return *std::move(query);
  // Files define the columns. Without files, any condition selects what there is: nothing.
  if (columns.empty() && !HasRows(db, *options.target.family)) return *Query::Parse("TRUE", {});
  const std::string& message = query.status().message();
  std::string hint;
  if (HasRowsOnlyInWal(db, *options.target.family)) {
    hint = fmt::format("\nDatabase {} has no skip indexes, and its rows are {}",
                       options.target.path, kOnlyInWal);
  } else if (columns.empty()) {
    hint = fmt::format(
        "\nDatabase {0} has no skip indexes; to add one: blocksieve index --db {0} --index "
        "NAME=EXTRACTOR",
        options.target.path);
  }
  term::FailUsage("--where{} {}{}", position == 0 ? ":" : ",", message, hint);
}

// Combines the options with the order and limit of the condition.
SkipScanOptions ScanOptionsFor(const ScanOptions& options, const Query& query) {
  SkipScanOptions scan = options.scan;
  scan.use_index = !options.no_index;
  scan.order = query.order;
  if (query.limit != 0 && scan.limit != 0) {
    term::FailUsage("--limit is {}, but the condition has LIMIT {}; allowed: one of them",
                    scan.limit, query.limit);
  }
  if (query.order && scan.reverse) {
    term::FailUsage("--reverse excludes ORDER BY; use ORDER BY {} DESC",
                    query.order->column.name());
  }
  scan.limit = std::max(scan.limit, query.limit);
  scan.count_only = options.count;
  return scan;
}

void WriteRow(const SkipScan& scan, const std::string& format, term::Output* output) {
  if (format == "text") {
    output->Write(scan.key().ToStringView());
    output->Write("\t");
    output->Write(scan.value().ToStringView());
    output->Write("\n");
    return;
  }
  Json row = Json::object();
  SetBytes(&row, "key", scan.key().ToStringView());
  SetBytes(&row, "value", scan.value().ToStringView());
  output->Write(row.dump() + "\n");
}

// Returns the number of rows written, or counted.
uint64_t WriteRows(const ScanOptions& options, SkipScan* scan, term::Output* output) {
  uint64_t count = options.count ? scan->Explain().rows_returned : 0;
  for (; scan->Valid() && output->is_wanted(); scan->Next()) {
    ++count;
    WriteRow(*scan, options.format, output);
  }
  if (options.count) {
    output->Write(options.format == "json" ? JsonLine({{"count", count}})
                                           : std::to_string(count) + "\n");
  }
  output->Flush();
  return count;
}

// Names the merge operator of another program: RocksDB only says that a merge failed.
std::string WhyFailed(const rocksdb::Status& status, const Target& target) {
  if (!status.IsCorruption()) return status.ToString();
  for (const auto& object : ReadStored(target).loaded.objects) {
    if (object.family != *target.family || object.option != "merge_operator") continue;
    return fmt::format("column family {} has operands of {}, which only its own program has",
                       object.family, object.value);
  }
  return status.ToString();
}

void RunScan(const ScanOptions& options) {
  const GuardedDb db = OpenReadOnly(options.target, *options.target.family);
  const Query query = ParseWhere(options, db);
  SkipScanOptions scan_options = ScanOptionsFor(options, query);
  term::Progress progress;
  scan_options.progress = [&progress](const ScanExplanation& so_far) {
    progress.Show("scanning", so_far.rows_read, so_far.rows_planned, so_far.rows_read, "row");
  };
  const auto check = [&](const rocksdb::Status& status, const std::string& doing) {
    if (!status.ok()) term::Fail("cannot {}: {}", doing, WhyFailed(status, options.target));
  };
  std::unique_ptr<SkipScan> scan;
  const rocksdb::Status status = SkipScan::Create(db.get(), db.FindHandle(*options.target.family),
                                                  query.predicate, scan_options, &scan);
  check(status, "scan database " + options.target.path);

  term::Output output;
  const uint64_t count = WriteRows(options, scan.get(), &output);
  if (options.scan.explain) {
    const ScanExplanation explanation = scan->Explain();
    term::WriteToStandardError(options.format == "json" ? JsonLine(explanation)
                                                        : explanation.ToText());
  }
  check(scan->status(),
        fmt::format("read database {} after {}", options.target.path, term::CountOf(count, "row")));
}

}  // namespace

void AddScanCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "scan", "Print the rows that match a condition", kScanFooter, RunScan);
  SkipScanOptions& scan = options->scan;
  AddTargetOptions(command, options, Subject::kFamily);
  AddOption(command, &options->where, "--where CONDITION", "print only matching rows");
  AddOption(command, &scan.explain, "--explain", "report on standard error what was read and why");
  AddOption(command, &options->no_index, "--no-index", "read all rows, ignoring the indexes");
  AddOption(command, &options->count, "--count", "print only the number of rows");
  AddOption(command, &scan.limit, "--limit N", "maximum number of rows; 0: all (default 0)",
            WholeInRange(0, std::numeric_limits<uint64_t>::max()));
  AddOption(command, &scan.reverse, "--reverse", "print rows in descending key order");
}

}  // namespace cli
}  // namespace blocksieve
