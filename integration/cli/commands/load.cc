#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/column.h"
#include "integration/cli/commands/load_report.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/database/loaded_database.h"
#include "integration/cli/rows/row_reader.h"
#include "integration/cli/rows/rows.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/interrupt.h"
#include "integration/cli/term/progress.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"
#include "lib/predicate/lexer.h"
#include "lib/range/range_filter.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kLoadFooter =
    R"help(One field of each line becomes the key. The other fields, in order and joined by the delimiter, become
the value.

An index is on a part of the value. Fields are numbered from 1, as in the line of the file:
  field:2                the bytes of field 2
  int:5 uint:5 float:6   the number in a field
  words:3 ngrams(4):3    the words, or the 4-grams, of the text in a field, for HAS and LIKE
  field[;]:3             an array: the elements of a field, separated by ';'; also int:field[;]:3
  value json:/a/b        the whole value; a member of the value if that is JSON
  int:json:/a words:json:/a/b words:value fixed(8,4) uint32le(8)

It consists of filters, for = and IN and HAS, and of bounds, for < and BETWEEN and ORDER BY. To have
only one of them, name it: bounds:int:3, filters:field:2. Otherwise a column of numbers whose bounds
find nearly every value alone, such as a time that ascends with the keys, gets no filters, and load
says so; both:int:3 makes them all the same. What exceeds --max-index-bytes in the index of a file is
left out, the largest filters first, with a warning that says how much would be enough.

Lines may hold any bytes; there is no quoting. With --format csv, FILE is CSV as RFC 4180 has it:
fields in quotes may hold delimiters, doubled quotes and line ends, and lines may end with CR LF. Of
equal keys the last one wins. A line that is empty or lacks the key field is an error: the lines
before it are loaded, and those after it are not. A line that lacks the field of an index has no value
for it (IS NULL). load reports how many rows it read and kept, and how many of them have a value of
each index. If the disk is full, it says how many rows from the start of FILE are kept.

Rows are added to a database that exists. It keeps the indexes that it has; a new one of the same
name replaces the old one. At the end everything is flushed and, unless --no-compact is given,
compacted, so that all files have the indexes; for a large database that takes long. A large index
is in a file beside its SST: copy it along with the SST (see blocksieve index).

With --range-fpr, key filters save reads of seeks with an upper bound, too (see blocksieve advise).
It is kept in the options of the database, with the prefix extractor blocksieve.range, which it needs.

Examples:
  blocksieve load --db paths.db --key 1 --index pkg=field:2 --index words=words:3 paths.tsv
  blocksieve load --db log.db --key 1 --delimiter , --index code=int:3 size=uint:4 log.csv
  blocksieve load --db csv.db --key 1 --format csv --header --index code=int:3 log.csv
  blocksieve load --db times.db --key 1 --range-fpr 0.01 --delimiter , log.csv
  zcat docs.gz | blocksieve load --db docs.db --key 1 --index age=int:json:/age -)help";

struct LoadOptions {
  LoadTarget target;
  RowReaderOptions reader;
  std::vector<std::string> indexes;
  std::vector<std::string> positionals;
  std::optional<std::string> delimiter;
  std::optional<std::string> store_delimiter;
  bool no_compact = false;
  OutputFormat format = OutputFormat::kText;
};

// More indexes may follow an --index, as in `--index a=field:2 b=field:3 FILE`; only the '=' tells
// them from the file. Moves them to the indexes and returns the file.
std::string TakeFile(LoadOptions* options) {
  std::optional<std::string> file;
  std::vector<std::string>& rest = options->positionals;
  for (size_t i = 0; i < rest.size(); ++i) {
    const bool is_index = rest[i].find('=') != std::string::npos && !options->indexes.empty();
    if (is_index && (file || i + 1 < rest.size())) {
      options->indexes.push_back(std::move(rest[i]));
    } else if (file) {
      term::FailUsage("two files are given, {} and {}; allowed: one", *file, rest[i]);
    } else {
      file = std::move(rest[i]);
    }
  }
  if (!file) term::FailUsage("FILE is missing; - is standard input");
  return *std::move(file);
}

// Until the end of the file, or what is wrong.
void LoadRows(RowReader* reader, ColumnCounter* counter, LoadedDatabase* database, Loaded* loaded) {
  constexpr uint64_t kRowsBetweenChecks = 1024;
  term::Progress progress;
  std::string_view key;
  std::string value;
  while (reader->Next(&key, &value)) {
    database->Put(key, value);
    counter->Count(value);
    ++loaded->rows_read;
    loaded->bytes += key.size() + value.size();
    if (loaded->rows_read % kRowsBetweenChecks != 0) continue;
    if (term::InterruptFlag()) break;
    if (!progress.IsDue()) continue;
    progress.Show("loading",
                  {reader->bytes_read(), reader->file_bytes(), loaded->rows_read, "row"});
  }
}

Loaded Load(const LoadTarget& target, RowReader* reader, LoadedDatabase* database) {
  Loaded loaded;
  loaded.is_new = database->is_new();
  ColumnCounter counter(target.columns);
  try {
    LoadRows(reader, &counter, database, &loaded);
    if (term::InterruptFlag()) loaded.problem = "interrupted";
  } catch (const term::Failure& failure) {
    loaded.problem = failure.what();
  }
  loaded.rows_with_cr = reader->rows_with_cr();
  loaded.columns = counter.Counts();
  try {
    database->Flush();
  } catch (const term::Failure& failure) {
    if (loaded.problem.empty()) loaded.problem = failure.what();
  }
  return loaded;
}

// Of a load that ended early: what is in the database, and what is not.
[[noreturn]] void FailWith(const Loaded& loaded, const LoadedDatabase& database) {
  const uint64_t kept = database.rows_durable();
  const std::string message =
      kept == loaded.rows_read
          ? fmt::format("{}; the {} before are loaded and flushed, not compacted; nothing after is",
                        loaded.problem, term::CountOf(kept, "row"))
          : fmt::format("{}; the first {} of the file are kept, nothing after is", loaded.problem,
                        term::CountOf(kept, "row"));
  if (term::InterruptFlag()) throw term::Interrupted(message);
  throw term::Failure(message);
}

void Compact(LoadedDatabase* database) {
  term::Progress progress;
  progress.Show("compacting");
  bool is_done = false;
  try {
    is_done = database->Compact([&](uint64_t done, uint64_t all) {
      if (!progress.IsDue()) return;
      progress.Show("compacting", {done, all, done, "byte"});
    });
  } catch (const term::Failure& failure) {
    term::Fail("{}; all rows are loaded and kept, not compacted", failure.what());
  }
  if (!is_done) throw term::Interrupted("interrupted; all rows are loaded, not compacted");
}

void ParseDelimiters(LoadOptions* options) {
  RowReaderOptions& reader = options->reader;
  const bool is_csv = reader.format == RowFormat::kCsv;
  reader.delimiter =
      ParseDelimiter(options->delimiter.value_or(is_csv ? "," : "\t"), "--delimiter");
  if (options->store_delimiter && !is_csv) {
    term::FailUsage("--store-delimiter {}: only for --format csv; lines are stored as they are",
                    *options->store_delimiter);
  }
  reader.stored_delimiter =
      is_csv ? ParseDelimiter(options->store_delimiter.value_or("\t"), "--store-delimiter")
             : reader.delimiter;
}

void RunLoad(const LoadOptions& given) {
  LoadOptions options = given;
  options.reader.file = TakeFile(&options);
  ParseDelimiters(&options);
  LoadTarget& target = options.target;
  target.columns =
      ParseIndexColumns(options.indexes, options.reader.stored_delimiter, options.reader.key_field);
  // What can fail without leaving anything behind comes first.
  const std::unique_ptr<RowReader> reader = OpenRows(options.reader);
  term::CatchInterrupts();
  LoadedDatabase database(target);
  const auto say = [](const std::string& text) {
    term::WriteToStandardError("blocksieve load: " + text + "\n");
  };
  for (const std::string& note : database.notes()) say(note);
  for (const Column& column : target.columns) {
    if (internal::IsPlainName(column.name())) continue;
    say(fmt::format("in conditions, the column is \"{}\", in double quotes", column.name()));
  }

  Loaded loaded = Load(target, reader.get(), &database);
  if (!loaded.problem.empty()) FailWith(loaded, database);
  if (!options.no_compact) Compact(&database);
  loaded.rows_in_database = database.NumRows();

  const SkipIndexSummary indexes = database.Indexes();
  const bool is_json = options.format == OutputFormat::kJson;
  term::WriteToStandardOutput(is_json ? LoadJson(loaded, indexes) : LoadText(loaded, indexes));
  for (const std::string& warning : LoadWarnings(loaded, indexes)) say("warning: " + warning);
}

// Adds --format, which names the format of the file, of the report, or both.
void AddFormats(CLI::App* command, LoadOptions* options) {
  AddFormatOption(command, "text|json|csv",
                  "json: a report for machines; csv: FILE is CSV (RFC 4180); both may be given",
                  [options](const std::string& name) {
                    if (name == "csv") {
                      options->reader.format = RowFormat::kCsv;
                    } else {
                      options->format = name == "json" ? OutputFormat::kJson : OutputFormat::kText;
                    }
                  });
}

}  // namespace

void AddLoadCommand(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddSubcommand(app, action, "load", "Load lines of fields into a database with skip indexes",
                    kLoadFooter, RunLoad);
  AddDatabaseOption(command, &options->target.path, "the directory of the database");
  AddOption(command, &options->reader.key_field,
            {"--key", "N", "the number of the field that is the key",
             WholeInRange(1, Column::kMaxFieldNumber), kRequired});
  AddOption(command, &options->indexes,
            {"--index", "NAME=EXTRACTOR", "a name, and what to index under it"});
  AddOption(command, &options->target.granule_rows,
            {"--granule-rows", "N",
             "rows that are skipped or read together (default those of a data block)",
             WholeInRange(1, std::numeric_limits<uint64_t>::max())});
  AddOption(command, &options->target.target_fpr,
            {"--fpr", "P",
             fmt::format("share of the granules without a value that are still read for it "
                         "(default {})",
                         options->target.target_fpr),
             TargetFprs()});
  AddMaxIndexBytesOption(command, &options->target.max_index_bytes, "8MiB");
  AddOption(command, &options->target.range_fpr,
            {"--range-fpr", "P",
             fmt::format("key filters answer for ranges: share of empty ones that pass, {} to {}",
                         kMinRangeFpr, kMaxRangeFpr),
             InRange(kMinRangeFpr, kMaxRangeFpr)});
  AddOption(command, &options->delimiter,
            {"--delimiter", "C",
             R"(what separates fields: one byte, \t, \\ or \xHH (default \t; of CSV a comma))"});
  AddOption(
      command, &options->store_delimiter,
      {"--store-delimiter", "C", R"(of CSV: what separates fields in the value (default \t))"});
  AddFlag(command, &options->reader.skips_header, "--header", "the first line or record is no row");
  AddFlag(command, &options->no_compact, "--no-compact", "leave the files as they were flushed");
  AddFormats(command, options);
  AddOption(command, &options->positionals, {"FILE", "", "the lines; - is standard input"});
}

}  // namespace blocksieve::cli
