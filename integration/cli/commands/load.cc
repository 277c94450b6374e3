#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/range_filter.h"
#include "blocksieve/skip_index.h"
#include "integration/cli/commands/load_report.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/commands/rows.h"
#include "integration/cli/engine/engine.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/interrupt.h"
#include "integration/cli/term/line_reader.h"
#include "integration/cli/term/progress.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kDescription = "Load lines of fields into a database with skip indexes";

constexpr const char* kFooter =
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

Lines may hold any bytes; there is no quoting. Of equal keys the last one wins. A line that is empty
or lacks the key field is an error: the lines before it are loaded, and those after it are not.
A line that lacks the field of an index has no value for it (IS NULL).

Rows are added to a database that exists. It keeps the indexes that it has; a new one of the same
name replaces the old one. At the end everything is flushed and, unless --no-compact is given,
compacted, so that all files have the indexes; for a large database that takes long. A large index
is in a file beside its SST: copy it along with the SST (see blocksieve index). The engines are
rocksdb and toylsm, a small one to learn from and to test with, whose granules are its data blocks.

With --range-fpr, key filters save reads of seeks with an upper bound, too (see blocksieve advise).
RocksDB keeps it in the options of the database, with the prefix extractor blocksieve.range, which
it needs; toylsm keeps no options, so give it each time.

Examples:
  blocksieve load --db paths.db --key 1 --index pkg=field:2 --index words=words:3 paths.tsv
  blocksieve load --db log.db --key 1 --delimiter , --index code=int:3 size=uint:4 log.csv
  blocksieve load --db times.db --key 1 --range-fpr 0.01 --delimiter , log.csv
  zcat docs.gz | blocksieve load --db docs.db --key 1 --index age=int:json:/age -
  blocksieve load --engine toylsm --db toy.db --key 1 --index pkg=field:2 paths.tsv)help";

constexpr uint64_t kMaxGranuleRows = 1'000'000'000;
constexpr uint64_t kMaxIndexBytes = uint64_t{1} << 40;

struct LoadOptions {
  std::string db;
  std::string engine;  // empty: not given
  uint32_t key_field = 0;
  std::vector<std::string> indexes;
  std::vector<std::string> positionals;
  uint64_t granule_rows = 0;  // 0: not given
  double target_fpr = SkipIndexBuilderOptions().target_fpr;
  std::optional<uint64_t> max_index_bytes;
  std::optional<double> range_fpr;
  std::string delimiter = "\t";
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
      term::FailUsage("two files are given, {} and {}; allowed is one", *file, rest[i]);
    } else {
      file = std::move(rest[i]);
    }
  }
  if (!file) term::FailUsage("FILE is missing; - is standard input");
  return *std::move(file);
}

std::string WhatIsWrong(const term::LineReader& lines, std::string_view line, char delimiter,
                        uint32_t key_field) {
  const std::string place = fmt::format("{}:{}: ", lines.name(), lines.line_number());
  if (line.empty()) return place + "the line is empty";
  return place + fmt::format("the line has {}, separated by {}; the key is field {} (--key)",
                             term::CountOf(CountFields(line, delimiter), "field"),
                             DelimiterName(delimiter), key_field);
}

void ShowProgress(const Loaded& loaded, const term::LineReader& lines, term::Progress* progress) {
  if (!progress->IsDue()) return;
  std::string text = "loading: " + term::CountOf(loaded.rows, "row");
  if (lines.file_bytes() != 0) {
    text += fmt::format(", {} %", 100 * lines.bytes_read() / lines.file_bytes());
  }
  progress->Show(text);
}

Loaded LoadLines(char delimiter, uint32_t key_field, term::LineReader* lines,
                 LoadedDatabase* database) {
  constexpr uint64_t kRowsBetweenChecks = 1024;
  term::Progress progress;
  Loaded loaded;
  std::string_view key;
  std::string value;
  while (true) {
    std::optional<std::string_view> line;
    try {
      line = lines->Next();
    } catch (const term::Failure& failure) {
      loaded.problem = failure.what();
      return loaded;
    }
    if (!line) break;
    if (line->empty() || !SplitRow(*line, delimiter, key_field, &key, &value)) {
      loaded.problem = WhatIsWrong(*lines, *line, delimiter, key_field);
      return loaded;
    }
    database->Put(key, value);
    ++loaded.rows;
    loaded.bytes += key.size() + value.size();
    if (loaded.rows % kRowsBetweenChecks != 0) continue;
    if (term::InterruptFlag()) break;
    ShowProgress(loaded, *lines, &progress);
  }
  if (term::InterruptFlag()) loaded.problem = "interrupted";
  return loaded;
}

void Compact(LoadedDatabase* database) {
  term::Progress progress;
  progress.Show("compacting");
  if (!database->Compact())
    throw term::Interrupted("interrupted; all rows are loaded, not compacted");
}

void RunLoad(LoadOptions options) {
  const std::string file = TakeFile(&options);
  const char delimiter = ParseDelimiter(options.delimiter);
  LoadTarget target{.path = options.db,
                    .columns = ParseIndexColumns(options.indexes, delimiter, options.key_field),
                    .granule_rows = options.granule_rows,
                    .target_fpr = options.target_fpr,
                    .max_index_bytes = options.max_index_bytes,
                    .range_fpr = options.range_fpr};
  // What can fail without leaving anything behind comes first.
  term::LineReader lines(file);
  term::CatchInterrupts();
  const std::unique_ptr<LoadedDatabase> database =
      EngineFor(options.db, options.engine).Load(target);
  for (const std::string& note : database->notes()) {
    term::WriteToStandardError("blocksieve load: " + note + "\n");
  }

  const Loaded loaded = LoadLines(delimiter, options.key_field, &lines, database.get());
  database->Flush();
  if (!loaded.problem.empty()) {
    const std::string message =
        fmt::format("{}; the {} before are loaded and flushed, not compacted; nothing after is",
                    loaded.problem, term::CountOf(loaded.rows, "row"));
    if (term::InterruptFlag()) throw term::Interrupted(message);
    throw term::Failure(message);
  }
  if (!options.no_compact) Compact(database.get());

  const SkipIndexSummary indexes = database->Indexes();
  term::WriteToStandardOutput(options.format == OutputFormat::kJson ? LoadJson(loaded, indexes)
                                                                    : LoadText(loaded, indexes));
  if (const std::string warning = SizeWarning(indexes); !warning.empty()) {
    term::WriteToStandardError("blocksieve load: " + warning);
  }
}

}  // namespace

void AddLoadCommand(CLI::App* app, Action* action) {
  const auto options = std::make_shared<LoadOptions>();
  CLI::App* const command = AddSubcommand(app, "load", kDescription, kFooter);
  AddDatabaseOption(command, &options->db, "the directory of the database");
  AddOption(command, &options->key_field,
            {"--key", "N", "the number of the field that is the key",
             WholeInRange(1, Column::kMaxFieldNumber), kRequired});
  AddOption(command, &options->indexes,
            {"--index", "NAME=EXTRACTOR", "a name, and what to index under it"});
  AddOption(
      command, &options->granule_rows,
      {"--granule-rows", "N",
       "rows that are skipped or read together (default: those of a data block; not for toylsm)",
       WholeInRange(1, kMaxGranuleRows)});
  AddOption(command, &options->target_fpr,
            {"--fpr", "P",
             fmt::format("share of the granules without a value that are still read for it "
                         "(default {})",
                         options->target_fpr),
             TargetFprs()});
  AddOption(command, &options->max_index_bytes,
            {"--max-index-bytes", "SIZE",
             "the most that the index of one file may take (default 8MiB; not for toylsm)",
             BytesInRange(1, kMaxIndexBytes)});
  AddOption(command, &options->range_fpr,
            {"--range-fpr", "P",
             fmt::format("key filters answer for ranges: share of empty ones that pass, {} to {}",
                         kMinRangeFpr, kMaxRangeFpr),
             InRange(kMinRangeFpr, kMaxRangeFpr)});
  AddOption(command, &options->delimiter,
            {"--delimiter", "C", R"(what separates fields: one byte, \t (default), \\ or \xHH)"});
  AddEngineOption(command, &options->engine, "the engine of a new database (default rocksdb)");
  AddFlag(command, &options->no_compact, "--no-compact", "leave the files as they were flushed");
  AddFormatOption(command, &options->format);
  AddOption(command, &options->positionals, {"FILE", "", "the lines; - is standard input"});
  SetAction(command, action, [options] { RunLoad(*options); });
}

}  // namespace blocksieve::cli
