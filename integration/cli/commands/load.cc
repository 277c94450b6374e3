// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "blocksieve/column.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/maintenance/row_loader.h"
#include "integration/cli/rows/rows.h"
#include "integration/cli/term/terminal.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::cli {

BLOCKSIEVE_TO_JSON(IndexSizes, num_files, files_with_index, index_bytes, needed_index_bytes)

namespace {

using term::CountOf;
using term::WithCommas;

constexpr const char* kLoadFooter =
    R"help(Reads FILE line by line. One field of each line becomes the key. The other fields, in order and
joined by the delimiter, become the value.

Indexes. --index NAME=EXTRACTOR indexes a part of the value under a column name. Fields of the value
are numbered from 1, as for blocksieve index; with --key 1, field 1 of the value is field 2 of FILE:
  field:2                the bytes of field 2
  int:5 uint:5 float:6   the number in a field
  words:3 ngrams(4):3    the words, or the 4-grams, of the text in a field, for HAS and LIKE
  folded:2 words:folded:3 ngrams(4):folded:3   the same without regard to case: 'Error' is 'ERROR'
  field[;]:3             an array: the elements of a field, separated by ';'; also int:field[;]:3
  value json:/a/b        the whole value; a member of a value that is JSON
  int:json:/a words:json:/a/b words:value fixed(8,4) uint32le(8)
A word ends at blanks, punctuation and control characters of Unicode, and at ASCII symbols like +.
An index has filters, for = and IN and HAS, and bounds (one or two intervals for each granule), for <,
BETWEEN and ORDER BY. bounds:int:3 has only bounds, filters:field:2 only filters. A numeric column
whose bounds find nearly every value gets no filters, unless both:int:3 forces them. If the index of
a file exceeds --max-index-bytes, its largest filters are left out, and a warning names the limit.
blocksieve inspect shows the sizes.

Input. Lines may hold any bytes and have no quoting. With --format csv, FILE is CSV (RFC 4180):
quoted fields may contain delimiters, doubled quotes and line breaks, and lines may end with CR LF.
If a key occurs more than once, the last row wins. load stops at an empty line or a line without the
key field, or if the disk is full, and reports how many rows from the start of FILE are durable. A
row without the field of an index has no value in that column (IS NULL).

Existing databases. Rows are added, to a new column family if --column-family names one that does
not exist, and existing indexes are kept; a new index replaces one of the same name. At the end load
compacts the whole column family, so that all files have the indexes. That takes long for a large
one; --no-compact leaves it out. Large indexes are stored in files beside the SSTs (see blocksieve
index --help).

Examples:
  blocksieve load --db paths.db --key 1 --index pkg=field:1 --index words=words:2 paths.tsv
  blocksieve load --db stock.db --key 1 --filter-policy bloomfilter:10:false paths.tsv
  blocksieve load --db log.db --key 1 --delimiter , --index code=int:2 --index size=uint:3 log.csv
  blocksieve load --db csv.db --key 1 --format csv --header --index code=int:2 log.csv
  blocksieve load --db times.db --key 1 --range-fpr 0.01 --delimiter , log.csv
  zcat docs.gz | blocksieve load --db docs.db --key 1 --index age=int:json:/age -)help";

constexpr const char* kFormats = "text|json|csv";

struct LoadOptions : TargetOptions {
  IndexChange index;
  FilterChoice filters;
  RowReaderOptions reader;
  std::vector<std::string> indexes;
  std::optional<std::string> delimiter;
  std::optional<std::string> store_delimiter;
  bool no_compact = false;
  std::vector<std::string> formats;  // of the file, and of the report
};

struct Loaded {
  uint64_t rows_read = 0;
  uint64_t bytes = 0;   // keys and values
  std::string problem;  // why loading stopped before the end of the file, or empty
};

// Loads until the end of the file or the first problem; what was loaded is then durable.
Loaded Load(RowReader* reader, RowLoader* database) {
  constexpr uint64_t kRowsBetweenChecks = 1024;
  Loaded loaded;
  try {
    term::Progress progress;
    std::string_view key;
    std::string value;
    while (reader->Next(&key, &value)) {
      database->Put(key, value);
      ++loaded.rows_read;
      loaded.bytes += key.size() + value.size();
      if (loaded.rows_read % kRowsBetweenChecks != 0) continue;
      if (term::InterruptFlag()) break;
      progress.Show("loading", reader->bytes_read(), reader->file_bytes(), loaded.rows_read, "row");
    }
    if (term::InterruptFlag()) loaded.problem = "interrupted";
  } catch (const term::Failure& failure) {
    loaded.problem = failure.what();
  }
  try {
    database->Flush();
  } catch (const term::Failure& failure) {
    if (loaded.problem.empty()) loaded.problem = failure.what();
  }
  return loaded;
}

// Warns of possible mistakes: indexes that exceed --max-index-bytes, with the limit that would keep
// them; columns without any value; lines that end with CR.
void WarnOfMistakes(const Loaded& loaded, uint64_t rows_with_cr, const IndexSizes& sizes,
                    const std::vector<Column>& columns, const RowLoader& database) {
  if (sizes.needed_index_bytes != 0) {
    SayOnLoading(fmt::format(
        "warning: filters, bounds or whole indexes were left out because of their size; "
        "--max-index-bytes {} would keep everything",
        sizes.needed_index_bytes));
  }
  for (const Column& column : columns) {
    if (loaded.rows_read == 0 || database.HasValues(column)) continue;
    SayOnLoading("warning: no row has a value for the index " + column.ToText());
  }
  if (rows_with_cr != 0) {
    SayOnLoading(fmt::format(
        "warning: {} with CR, which is stored in the last field; --format csv removes it",
        rows_with_cr == 1 ? "1 line ends" : WithCommas(rows_with_cr) + " lines end"));
  }
}

// Reports which rows of an incomplete load are in the database.
[[noreturn]] void FailWith(const Loaded& loaded, const RowLoader& database) {
  const uint64_t kept = database.rows_durable();
  const std::string message = fmt::format(
      "{}; the first {} of the file are in the database, not compacted; later rows are not in it",
      loaded.problem, CountOf(kept, "row"));
  if (term::InterruptFlag()) throw term::Interrupted(message);
  throw term::Failure(message);
}

void Compact(RowLoader* database) {
  term::Progress progress;
  progress.Show("compacting");
  try {
    const bool is_done = database->Compact(
        [&](uint64_t done, uint64_t all) { progress.Show("compacting", done, all, done, "byte"); });
    if (!is_done) throw term::Interrupted("interrupted; all rows are loaded, but not compacted");
  } catch (const term::Failure& failure) {
    term::Fail("{}; all rows are loaded and durable, but not compacted", failure.what());
  }
}

void ParseDelimiters(LoadOptions* options) {
  RowReaderOptions& reader = options->reader;
  const bool is_csv = reader.is_csv;
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
  for (const std::string& each : options.formats) {
    options.reader.is_csv |= each == "csv";
    if (each != "csv") options.format = each;
  }
  ParseDelimiters(&options);
  IndexChange& index = options.index;
  index.columns = ParseColumns(options.indexes, options.reader.stored_delimiter);
  // Opened before the database, so that a missing file leaves no empty database.
  RowReader reader(options.reader);
  term::CatchInterrupts();
  RowLoader database(options.target, index, options.filters);
  for (const Column& column : index.columns) {
    const std::string text = Predicate::ColumnText(column);
    if (text != column.name())
      SayOnLoading("in conditions, write the column in double quotes: " + text);
  }

  std::optional<uint64_t> replaced;
  std::optional<uint64_t> kept;
  if (!options.no_compact) replaced = database.CountRows();
  Loaded loaded = Load(&reader, &database);
  if (!loaded.problem.empty()) FailWith(loaded, database);
  if (replaced) {
    Compact(&database);
    kept = database.CountRows();
    *replaced = *replaced + loaded.rows_read - *kept;
  }

  const IndexSizes sizes = database.SizesOfIndexes();
  Json document = {{"rows_read", loaded.rows_read},
                   {"rows_replaced", OrNull(replaced)},
                   {"rows_kept", OrNull(kept)},
                   {"num_bytes", loaded.bytes}};
  const std::string rows = replaced ? fmt::format(
                                          "rows replaced by later ones with the same key: {}\n"
                                          "rows in the column family: {}\n",
                                          WithCommas(*replaced), WithCommas(*kept))
                                    : "rows replaced: not counted with --no-compact\n";
  document.update(Json(sizes));
  WriteReport(options.format, document,
              fmt::format("rows read: {}\n{}bytes: {}\nindex bytes: {} in {} of {}\n",
                          WithCommas(loaded.rows_read), rows, WithCommas(loaded.bytes),
                          WithCommas(sizes.index_bytes), WithCommas(sizes.files_with_index),
                          CountOf(sizes.num_files, "file")));
  WarnOfMistakes(loaded, reader.rows_with_cr(), sizes, index.columns, database);
}

}  // namespace

void AddLoadCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "load", "Load a text or CSV file into a database with skip indexes", kLoadFooter,
      RunLoad);
  AddTargetOptions(command, options, Subject::kFamily, /*formats=*/nullptr);
  AddOption(command, &options->reader.key_field, "--key N", "number of the field that is the key",
            WholeInRange(1, Column::kMaxFieldNumber), kRequired);
  AddOption(command, &options->indexes, "--index NAME=EXTRACTOR",
            "index this part of the value under this name");
  AddOption(command, &options->index.granule_rows, "--granule-rows N",
            "rows per granule, the unit that is read or pruned (default the rows of a data block)",
            WholeInRange(1, std::numeric_limits<uint64_t>::max()));
  AddOption(command, &options->index.target_fpr, "--fpr P",
            fmt::format("false-positive rate of an index, per granule (default {})",
                        SkipIndexOptions().target_fpr),
            InRange(rocksdb_plugin::SkipIndexOptionTable()["target_fpr"]));
  AddMaxIndexBytesOption(command, &options->index.max_index_bytes, "8MiB");
  const auto& range_fpr = rocksdb_plugin::PolicyOptionTable()["range_fpr"];
  AddOption(command, &options->filters.range_fpr, "--range-fpr P",
            "build range filters that pass this share of empty ranges, " + range_fpr.allowed,
            InRange(range_fpr));
  AddOption(command, &options->filters.policy, "--filter-policy POLICY",
            "filters of RocksDB in a new column family, such as bloomfilter:10:false, or nullptr",
            KnownPolicy);
  Exclude(command, "--filter-policy", {"--range-fpr"});
  AddOption(command, &options->delimiter, "--delimiter C",
            R"(field delimiter: one byte, \t, \\ or \xHH (default \t; for CSV a comma))");
  AddOption(command, &options->store_delimiter, "--store-delimiter C",
            R"(for CSV: field delimiter in the stored value (default \t))");
  AddOption(command, &options->reader.skips_header, "--header", "skip the first line or record");
  AddDropOption(command, &options->target);
  AddOption(command, &options->no_compact, "--no-compact",
            "leave the rows in the files as they were flushed");
  AddOption(command, &options->formats, std::string("--format ") + kFormats,
            "json: print the report as JSON; csv: FILE is CSV (RFC 4180)", OneOf(kFormats));
  AddOption(command, &options->reader.file, "FILE", "the input; - is standard input", nullptr,
            kRequired);
}

}  // namespace blocksieve::cli
