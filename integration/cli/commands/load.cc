#include <fmt/format.h>

#include <limits>

#include "blocksieve/column.h"
#include "integration/cli/commands/load_report.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/maintenance/loaded_database.h"
#include "integration/cli/rows/rows.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"
#include "lib/predicate/lexer.h"
#include "lib/range/range_filter.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kLoadFooter =
    R"help(Reads FILE line by line. One field of each line becomes the key. The other fields, in order and
joined by the delimiter, become the value.

Indexes. --index NAME=EXTRACTOR indexes a part of the value under a column name. Fields of the value
are numbered from 1, as for blocksieve index; with --key 1, field 1 of the value is field 2 of FILE:
  field:2                the bytes of field 2
  int:5 uint:5 float:6   the number in a field
  words:3 ngrams(4):3    the words, or the 4-grams, of the text in a field, for HAS and LIKE
  field[;]:3             an array: the elements of a field, separated by ';'; also int:field[;]:3
  value json:/a/b        the whole value; a member of a value that is JSON
  int:json:/a words:json:/a/b words:value fixed(8,4) uint32le(8)

An index has filters, for = and IN and HAS, and bounds (minimum and maximum of each granule), for <,
BETWEEN and ORDER BY. A prefix selects one of them: bounds:int:3, filters:field:2. Without a prefix,
a numeric column whose bounds find nearly every value, such as a time that ascends with the keys,
gets no filters, and load reports that; both:int:3 forces filters. If the index of a file exceeds
--max-index-bytes, its largest filters are left out, and a warning names the limit that would keep
everything.

Input. Lines may hold any bytes and have no quoting. With --format csv, FILE is CSV (RFC 4180):
quoted fields may contain delimiters, doubled quotes and line breaks, and lines may end with CR LF.
If a key occurs more than once, the last row wins. load stops at an empty line or a line without the
key field, and keeps the rows before it. A row without the field of an index has no value in that
column (IS NULL). If the disk is full, load reports how many rows from the start of FILE are durable.

Existing databases. Rows are added, to a new column family if --column-family names one that does
not exist, and existing indexes are kept; a new index replaces one of the same name. At the end load
compacts the whole column family, which takes long for a large one, so that all files have the
indexes. Large indexes are stored in files beside the SSTs (see blocksieve index --help).

--range-fpr builds range filters into the key filters (see blocksieve advise --help), and sets the
prefix extractor blocksieve.range that they need, in the options of the database.

Examples:
  blocksieve load --db paths.db --key 1 --index pkg=field:1 --index words=words:2 paths.tsv
  blocksieve load --db log.db --key 1 --delimiter , --index code=int:2 size=uint:3 log.csv
  blocksieve load --db csv.db --key 1 --format csv --header --index code=int:2 log.csv
  blocksieve load --db times.db --key 1 --range-fpr 0.01 --delimiter , log.csv
  zcat docs.gz | blocksieve load --db docs.db --key 1 --index age=int:json:/age -)help";

constexpr const char* kFormats = "text|json|csv";

struct LoadOptions {
  LoadTarget target;
  RowReaderOptions reader;
  std::vector<std::string> indexes;
  std::optional<std::string> delimiter;
  std::optional<std::string> store_delimiter;
  bool no_compact = false;
  std::vector<std::string> formats;  // of the file, and of the report
};

// Loads until the end of the file; throws at the first error.
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
  ColumnCounter counter({target.index.columns.begin(), target.index.columns.end()});
  try {
    LoadRows(reader, &counter, database, &loaded);
    if (term::InterruptFlag()) loaded.problem = "interrupted";
  } catch (const term::Failure& failure) {
    loaded.problem = failure.what();
  }
  loaded.rows_with_cr = reader->rows_with_cr();
  loaded.values = counter.Counts();
  try {
    database->Flush();
  } catch (const term::Failure& failure) {
    if (loaded.problem.empty()) loaded.problem = failure.what();
  }
  return loaded;
}

// Reports which rows of an incomplete load are in the database.
[[noreturn]] void FailWith(const Loaded& loaded, const LoadedDatabase& database) {
  const uint64_t kept = database.rows_durable();
  const std::string message =
      kept == loaded.rows_read
          ? fmt::format(
                "{}; the {} before are loaded and flushed, not compacted; later rows are not "
                "loaded",
                loaded.problem, term::CountOf(kept, "row"))
          : fmt::format("{}; the first {} of the file are kept, later rows are not", loaded.problem,
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
    term::Fail("{}; all rows are loaded and durable, but not compacted", failure.what());
  }
  if (!is_done) throw term::Interrupted("interrupted; all rows are loaded, but not compacted");
}

void ParseDelimiters(LoadOptions* options) {
  RowReaderOptions& reader = options->reader;
  const bool is_csv = reader.format == RowFormat::kCsv;
  reader.delimiter =
      ParseDelimiter(options->delimiter.value_or(is_csv ? "," : "\t"), "--delimiter");
  if (options->store_delimiter && !is_csv) {
    term::FailUsage("--store-delimiter is {}; allowed: only with --format csv",
                    *options->store_delimiter);
  }
  reader.stored_delimiter =
      is_csv ? ParseDelimiter(options->store_delimiter.value_or("\t"), "--store-delimiter")
             : reader.delimiter;
}

void RunLoad(const LoadOptions& given) {
  LoadOptions options = given;
  bool is_json = false;
  for (const std::string& format : options.formats) {
    if (format == "csv") {
      options.reader.format = RowFormat::kCsv;
    } else {
      is_json = format == "json";
    }
  }
  ParseDelimiters(&options);
  LoadTarget& target = options.target;
  IndexRebuild& index = target.index;
  index.columns = ParseColumns(options.indexes, options.reader.stored_delimiter);
  // Opened before the database, so that a missing file leaves no empty database.
  const std::unique_ptr<RowReader> reader = OpenRows(options.reader);
  term::CatchInterrupts();
  LoadedDatabase database(target);
  const auto say = [](const std::string& text) {
    term::WriteToStandardError("blocksieve load: " + text + "\n");
  };
  for (const std::string& note : database.notes()) say(note);
  for (const Column& column : index.columns) {
    if (internal::IsPlainName(column.name())) continue;
    say(fmt::format("in conditions, write the column in double quotes: \"{}\"", column.name()));
  }

  Loaded loaded = Load(target, reader.get(), &database);
  if (!loaded.problem.empty()) FailWith(loaded, database);
  if (!options.no_compact) Compact(&database);
  loaded.rows_in_database = database.NumRows();

  const SkipIndexSummary indexes = database.Indexes();
  term::WriteToStandardOutput(is_json ? LoadJson(loaded, indexes) : LoadText(loaded, indexes));
  for (const std::string& warning : LoadWarnings(loaded, indexes)) say("warning: " + warning);
}

}  // namespace

void AddLoadCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "load", "Load a text or CSV file into a database with skip indexes", kLoadFooter,
      RunLoad);
  AddDatabaseOption(command, &options->target.index.database);
  AddFamilyOption(command, &options->target.index.family);
  AddOption(command, &options->reader.key_field,
            {"--key", "N", "number of the field that is the key",
             WholeInRange(1, Column::kMaxFieldNumber), kRequired});
  AddOption(command, &options->indexes,
            {"--index", "NAME=EXTRACTOR", "index this part of the value under this name"});
  AddOption(command, &options->target.index.granule_rows,
            {"--granule-rows", "N",
             "rows per granule, the unit that is read or pruned (default the rows of a data block)",
             WholeInRange(1, std::numeric_limits<uint64_t>::max())});
  AddOption(command, &options->target.index.target_fpr,
            {"--fpr", "P",
             fmt::format("false-positive rate of an index, per granule (default {})",
                         SkipIndexOptions().target_fpr),
             TargetFprs()});
  AddMaxIndexBytesOption(command, &options->target.index.max_index_bytes, "8MiB");
  AddOption(command, &options->target.range_fpr,
            {"--range-fpr", "P",
             fmt::format("build range filters that pass this share of empty ranges, {} to {}",
                         kMinRangeFpr, kMaxRangeFpr),
             InRange(kMinRangeFpr, kMaxRangeFpr)});
  AddOption(command, &options->delimiter,
            {"--delimiter", "C",
             R"(field delimiter: one byte, \t, \\ or \xHH (default \t; for CSV a comma))"});
  AddOption(
      command, &options->store_delimiter,
      {"--store-delimiter", "C", R"(for CSV: field delimiter in the stored value (default \t))"});
  AddFlag(command, &options->reader.skips_header, "--header", "skip the first line or record");
  AddDropOption(command, &options->target.drops_properties);
  AddFlag(command, &options->no_compact, "--no-compact", "do not compact after loading");
  AddOption(command, &options->formats,
            {"--format", kFormats, "json: print the report as JSON; csv: FILE is CSV (RFC 4180)",
             OneOf(kFormats)});
  AddOption(command, &options->reader.file,
            {"FILE", "", "the input; - is standard input", nullptr, kRequired});
}

}  // namespace blocksieve::cli
