#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/skip_index.h"
#include "integration/cli/commands/commands.h"
#include "integration/cli/commands/common_options.h"
#include "integration/cli/commands/load_report.h"
#include "integration/cli/commands/rows.h"
#include "integration/cli/engine/engine.h"
#include "integration/cli/engine/engine_choice.h"
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
    R"help(One field of each line becomes the key; the others, in order and joined by the delimiter, the value.

Fields are counted from 1, in the line of the file. Indexes are of the value:
  field:2                the bytes of field 2
  int:5 uint:5 float:6   the number in a field
  words:3 ngrams(4):3    the words, the 4-grams of the text of a field, for HAS and LIKE
  field[;]:3             an array: elements of a field, separated by ';'; also int:field[;]:3
  value json:/a/b        the whole value, a member of the JSON that it is
  int:json:/a words:json:/a/b words:value fixed(8,4) uint32le(8)

Lines hold any bytes; there is no quoting, and of equal keys the last one wins. A line that lacks
the key field, and an empty one, is an error: the lines before it are loaded, those after it not.
Lines that lack the field of an index have no value for it (IS NULL).

An existing database is added to. It keeps the indexes that it has, or gets another in place of
one of the same name. At the end everything is flushed and, unless --no-compact, compacted, so that
all of its files have the indexes; of a large database that takes long. Engines are rocksdb and
toylsm, a small one to learn from and test with; its granules are its data blocks.

Examples:
  blocksieve load --db paths.db --key 1 --index pkg=field:2 --index words=words:3 paths.tsv
  blocksieve load --db log.db --key 1 --delimiter , --index code=int:3 size=uint:4 log.csv
  zcat docs.gz | blocksieve load --db docs.db --key 1 --index age=int:json:/age -
  blocksieve load --engine toylsm --db toy.db --key 1 --index pkg=field:2 paths.tsv)help";

constexpr uint64_t kMaxGranuleRows = 1'000'000'000;

struct LoadOptions {
  std::string db;
  std::string engine;  // empty: not given
  uint32_t key_field = 0;
  std::vector<std::string> indexes;
  std::vector<std::string> positionals;
  uint64_t granule_rows = 0;  // 0: not given
  double target_fpr = SkipIndexBuilderOptions().target_fpr;
  std::string delimiter = "\t";
  bool no_compact = false;
  OutputFormat format = OutputFormat::kText;
};

// After an --index there may be more of them, `--index a=field:2 b=field:3 FILE`, which only the
// '=' tells from the file. Moves them to the indexes and returns the file.
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

struct Loaded {
  LoadCounts counts;
  std::string problem;  // why it ended before the end of the file; empty: it did not
};

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
  std::string text = "loading: " + term::CountOf(loaded.counts.rows, "row");
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
    ++loaded.counts.rows;
    loaded.counts.bytes += key.size() + value.size();
    if (loaded.counts.rows % kRowsBetweenChecks != 0) continue;
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
                    .target_fpr = options.target_fpr};
  // First what may fail without leaving anything behind.
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
                    loaded.problem, term::CountOf(loaded.counts.rows, "row"));
    if (term::InterruptFlag()) throw term::Interrupted(message);
    throw term::Failure(message);
  }
  if (!options.no_compact) Compact(database.get());

  term::Output output;
  const SkipIndexSummary indexes = database->Indexes();
  output.Write(options.format == OutputFormat::kJson ? LoadReportJson(loaded.counts, indexes)
                                                     : LoadReportText(loaded.counts, indexes));
  output.Flush();
}

}  // namespace

void AddLoadCommand(CLI::App* app, Action* action) {
  const auto options = std::make_shared<LoadOptions>();
  CLI::App* const command = app->add_subcommand("load", kDescription);
  command->footer(kFooter);

  command->add_option("--db", options->db, "the directory of the database")
      ->type_name("DIR")
      ->required();
  command->add_option("--key", options->key_field, "the field that is the key")
      ->type_name("N")
      ->check(InRange(1U, Column::kMaxFieldNumber))
      ->required();
  command->add_option("--index", options->indexes, "what to index, under what name")
      ->type_name("NAME=EXTRACTOR")
      ->allow_extra_args(false);
  command
      ->add_option("--granule-rows", options->granule_rows,
                   fmt::format("rows that are skipped or read together (default {}; not of toylsm)",
                               kDefaultGranuleRows))
      ->type_name("N")
      ->check(InRange(uint64_t{1}, kMaxGranuleRows));
  command
      ->add_option("--fpr", options->target_fpr,
                   fmt::format("share of the granules without a value that are read all the same "
                               "(default {})",
                               options->target_fpr))
      ->type_name("P")
      ->check(CheckTargetFpr);
  command
      ->add_option("--delimiter", options->delimiter,
                   R"(what separates fields: one byte, \t (default), \\ or \xHH)")
      ->type_name("C");
  AddEngineOption(command, &options->engine,
                  "of a new database (default rocksdb); an existing one has its own");
  command->add_flag("--no-compact", options->no_compact, "leave the files as they are flushed");
  AddFormatOption(command, &options->format);
  command->add_option("FILE", options->positionals, "the lines; - is standard input")
      ->type_name("");

  command->callback([options, action] { *action = [options] { RunLoad(*options); }; });
}

}  // namespace blocksieve::cli
