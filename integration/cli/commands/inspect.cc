#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "integration/cli/commands/options.h"
#include "integration/cli/database/database.h"
#include "integration/cli/database/file_choice.h"
#include "integration/cli/database/file_text.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/database/level_summary.h"
#include "integration/cli/database/moved_files.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"
#include "integration/cli/term/text_table.h"
#include "lib/granule/granule_index.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kInspectFooter =
    R"help(Shows the filter of each file, totals by column family and level, and the skip indexes. A filter was
built by blocksieve or by RocksDB itself ("stock"). The database is opened read-only; another
process may have it open. Keys and values are not read.

  keys           entries of the file: all versions of keys, including deletes
  filters        number of filters: 1, or one per partition; RocksDB before 7.0 also wrote one per
                 group of data blocks ("per granule")
  entries        what the filters have: keys, prefixes, ranges
  covered        share of the keys, or bytes, in files with a readable filter
  bits/key       total size of the filters, or of the part for ranges or prefixes, per entry
  predicted FPR  share of absent keys that pass, by the model of the filter; - if all pass
  range FPR      share of short empty ranges that pass, as the filter estimated it when it was built
  prefix FPR     share of absent prefixes that pass, by the model of the filter, which has the distinct
                 prefixes of its keys besides the keys; boundaries say where these end, as in the
                 policy's option prefixes

If filter memory is spread over the levels (wasted_reads, bits_per_key), a trivial move can take a
file to a deeper level with the filter of the level above, which is more precise than needed there.
Such files are listed. They are recognized by an FPR at least 1.5 bits (a factor of 2.8) below that
of their level, and under kind=auto by their kind: flushes build Bloom filters, compactions ribbons.

A process without the plug-in, such as ldb compact, silently ignores the policy in the OPTIONS file
and writes files without filters. Such files are counted. blocksieve-preload ldb loads the plug-in.

Examples:
  blocksieve inspect --db paths.db
  blocksieve inspect paths.db/000012.sst
  blocksieve inspect --db paths.db --format json | jq '.files[] | select(.filter.origin == "none")')help";

struct InspectOptions {
  FileChoice choice;
  OutputFormat format = OutputFormat::kText;
};

struct Inspection {
  std::vector<FileReport> files;
  std::vector<std::optional<int>>
      built_for;  ///< By file: the level that its filter was built for, if another.
  WithoutFilters without_filters;
  uint64_t num_orphans = 0;  ///< Skip indexes whose SSTs do not exist.
  uint64_t orphan_bytes = 0;
  ChosenFiles::Missed missed;
};

bool HasSeveralFamilies(const std::vector<FileReport>& files) {
  return std::any_of(files.begin(), files.end(), [&](const FileReport& file) {
    return file.place.family != files.front().place.family;
  });
}

/// A table whose first column, the family, is left out if the database has only one.
class FamilyTable {
 public:
  FamilyTable(bool with_family, std::vector<std::string> headers)
      : with_family_(with_family), table_(Row("family", std::move(headers))) {}

  void AddRow(const std::string& family, std::vector<std::string> cells) {
    table_.AddRow(Row(family, std::move(cells)));
  }
  std::string ToString() const { return table_.ToString(); }

 private:
  std::vector<std::string> Row(const std::string& family, std::vector<std::string> cells) const {
    if (with_family_) cells.insert(cells.begin(), family);
    return cells;
  }

  const bool with_family_;
  term::TextTable table_;
};

std::vector<std::string> SummaryCells(const std::string& name, const FilterSummary& sum) {
  return {name,
          term::WithCommas(sum.num_files),
          term::WithCommas(sum.num_entries),
          term::WithCommas(sum.num_bytes),
          ShareText(sum.covered_entries, sum.num_entries),
          ShareText(sum.covered_bytes, sum.num_bytes),
          term::WithCommas(sum.filter_bytes),
          BitsText(sum.filter_bytes, sum.filter_entries),
          RateText(sum.predicted_fpr())};
}

std::string LevelsText(const std::vector<FileReport>& files, bool with_family) {
  FamilyTable table(with_family, {"level", "files", "keys", "bytes", "keys covered",
                                  "bytes covered", "filter bytes", "bits/key", "predicted FPR"});
  FilterSummary total;
  const auto levels = SummariseLevels(files);
  for (const auto& [place, level] : levels) {
    table.AddRow(place.first, SummaryCells(LevelText(place.second), level));
  }
  for (const FileReport& file : files) total.Add(file);
  if (levels.size() > 1) table.AddRow("all", SummaryCells("all", total));
  return table.ToString();
}

std::string FilesText(const std::vector<FileReport>& files, bool with_family) {
  FamilyTable table(with_family, {"file", "level", "keys", "bytes", "filter", "filters", "entries",
                                  "bits/key", "predicted FPR", "index bytes"});
  for (const FileReport& file : files) {
    table.AddRow(file.place.family,
                 {ShortName(file.place), LevelText(file.place.level),
                  term::WithCommas(file.num_entries), term::WithCommas(file.num_bytes),
                  FilterName(file.filter), term::WithCommas(file.filter.num_filters),
                  file.filter.entries, BitsText(file.filter.num_bytes, file.filter.num_entries),
                  RateText(file.filter.predicted_fpr), term::WithCommas(file.index.num_bytes)});
  }
  return table.ToString();
}

/// Empty if no file has the part.
std::string PartText(const std::vector<FileReport>& files, bool with_family,
                     PartReport FilterReport::*part, std::vector<std::string> headers) {
  FamilyTable table(with_family, std::move(headers));
  bool has_part = false;
  for (const FileReport& file : files) {
    const PartReport& report = file.filter.*part;
    if (report.num_filters == 0) continue;
    has_part = true;
    std::vector<std::string> cells = {ShortName(file.place),
                                      LevelText(file.place.level),
                                      term::WithCommas(report.num_filters),
                                      term::WithCommas(report.num_bytes),
                                      BitsText(report.num_bytes, file.filter.num_entries),
                                      RateText(report.fpr)};
    if (part == &FilterReport::prefixes) {
      cells.push_back(term::WithCommas(file.filter.num_prefixes));
      cells.push_back(fmt::format("{}", fmt::join(file.filter.prefix_rules, " ")));
    }
    table.AddRow(file.place.family, std::move(cells));
  }
  return has_part ? table.ToString() + "\n" : "";
}

std::string PartsText(const std::vector<FileReport>& files, bool with_family) {
  return PartText(files, with_family, &FilterReport::ranges,
                  {"range filters", "level", "filters", "bytes", "range bits/key",
                   "estimated range FPR"}) +
         PartText(files, with_family, &FilterReport::prefixes,
                  {"prefixes", "level", "filters", "bytes", "prefix bits/key",
                   "predicted prefix FPR", "distinct", "boundaries"});
}

// Lists the files that were moved.
std::string MovedText(const Inspection& inspection) {
  std::string text;
  FilterSummary sum;
  for (size_t i = 0; i < inspection.files.size(); ++i) {
    const std::optional<int>& level = inspection.built_for[i];
    if (!level) continue;
    const FilePlace& place = inspection.files[i].place;
    sum.Add(inspection.files[i]);
    text += fmt::format("  {}  from level {} to {}\n", ShortName(place), *level, place.level);
  }
  if (text.empty()) return "";
  return fmt::format("\n{} with {} moved to another level, with the filter of the old level:\n",
                     term::CountOf(sum.num_files, "file"), term::CountOf(sum.num_entries, "key")) +
         text;
}

std::string OrphansText(const InspectOptions& options, const Inspection& inspection) {
  if (inspection.num_orphans == 0) return "";
  return fmt::format(
      "\n{} with {} bytes whose SSTs no longer exist. To delete them while no process has the\n"
      "database open: blocksieve index --db {} --delete-orphans\n",
      term::CountOf(inspection.num_orphans, "sidecar"), term::WithCommas(inspection.orphan_bytes),
      ShellWord(options.choice.db));
}

// Explains the form of the index's filters.
std::string ReasonsText(const std::set<std::string>& forms) {
  std::string text;
  for (const std::string& form : forms) {
    const std::string_view reason = GranuleFiltersReason(form);
    if (!reason.empty()) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", form, reason);
  }
  return text.empty() ? "" : text + "\n";
}

std::string IndexesText(const std::vector<FileReport>& files, bool with_family) {
  FamilyTable table(with_family,
                    {"skip index", "files", "granules", "filters", "filter bytes", "bounds bytes"});
  const auto indexes = SummariseIndexes(files);
  if (indexes.empty()) return "No skip indexes.\n";
  std::set<std::string> forms;
  for (const auto& [name, index] : indexes) {
    forms.insert(index.filters.begin(), index.filters.end());
    table.AddRow(
        name.first,
        {name.second, term::WithCommas(index.num_files), term::WithCommas(index.num_granules),
         fmt::format("{}", fmt::join(index.filters, " + ")), term::WithCommas(index.filter_bytes),
         term::WithCommas(index.bounds_bytes)});
  }
  return table.ToString() + ReasonsText(forms);
}

std::string NotesText(const Inspection& inspection) {
  std::string text;
  for (const FileReport& file : inspection.files) {
    std::vector<std::string> notes = file.filter.problems;
    for (const std::string& note : {file.filter.note, file.index.problem, file.index.note}) {
      if (!note.empty()) notes.push_back(note);
    }
    for (const std::string& note : notes) text += ShortName(file.place) + ": " + note + "\n";
  }
  text += VanishedText(inspection.missed);
  return text.empty() ? "" : "\n" + text;
}

std::string ToText(const InspectOptions& options, const Inspection& inspection) {
  if (inspection.files.empty() && !inspection.missed.unopened.empty()) return "";
  if (inspection.files.empty()) return "No files: nothing has been flushed yet.\n";
  const bool with_family = HasSeveralFamilies(inspection.files);
  std::string text;
  if (inspection.files.size() > 1) text = LevelsText(inspection.files, with_family) + "\n";
  text += FilesText(inspection.files, with_family) + "\n" +
          PartsText(inspection.files, with_family) + IndexesText(inspection.files, with_family) +
          MovedText(inspection);
  if (inspection.without_filters.sum.num_files != 0) {
    text += "\n" + inspection.without_filters.ToText("\n", "\n") + "\n";
  }
  return text + OrphansText(options, inspection) + NotesText(inspection);
}

nlohmann::ordered_json ToJson(const FilterSummary& sum) {
  return {{"num_files", sum.num_files},
          {"num_entries", sum.num_entries},
          {"num_bytes", sum.num_bytes},
          {"covered_entries", sum.covered_entries},
          {"covered_bytes", sum.covered_bytes},
          {"filter_bytes", sum.filter_bytes},
          {"bits_per_key", 8 * term::Ratio(sum.filter_bytes, sum.filter_entries)},
          {"predicted_fpr", sum.predicted_fpr()}};
}

std::string ToJson(const InspectOptions& options, const Inspection& inspection) {
  using Json = nlohmann::ordered_json;
  Json document = DescribeChoice(options.choice);
  FilterSummary total;
  for (const FileReport& file : inspection.files) total.Add(file);
  document["total"] = ToJson(total);
  document["files_without_plugin"] = inspection.without_filters.sum.num_files;
  document["orphan_sidecars"] = {{"num_files", inspection.num_orphans},
                                 {"num_bytes", inspection.orphan_bytes}};
  Json& levels = document["levels"] = Json::array();
  for (const auto& [place, level] : SummariseLevels(inspection.files)) {
    Json one = {{"family", place.first}};
    one["level"] = place.second < 0 ? Json(nullptr) : Json(place.second);
    one.update(ToJson(level));
    levels.push_back(std::move(one));
  }
  Json& files = document["files"] = Json::array();
  for (size_t i = 0; i < inspection.files.size(); ++i) {
    Json one = ToJson(inspection.files[i]);
    const std::optional<int>& level = inspection.built_for[i];
    one["built_for_level"] = level ? Json(*level) : Json(nullptr);
    files.push_back(std::move(one));
  }
  AddMissed(inspection.missed, &document);
  return JsonLine(document);
}

void RunInspect(const InspectOptions& options) {
  ChosenFiles chosen = FindFiles(options.choice);
  Inspection inspection;
  inspection.files = chosen.ReadReports("inspecting", &inspection.missed);
  inspection.built_for = LevelsBuiltFor(
      inspection.files,
      options.choice.db.empty() ? RequestedRatesByFamily() : ReadRequestedRates(options.choice.db));
  if (!options.choice.db.empty()) {
    inspection.without_filters = FilesWithoutFilters(inspection.files, options.choice.db);
    for (const std::string& path : OrphanIndexes(options.choice.db)) {
      std::error_code error;
      const auto bytes = std::filesystem::file_size(path, error);
      inspection.orphan_bytes += error ? 0 : bytes;
      ++inspection.num_orphans;
    }
  }
  term::WriteToStandardOutput(options.format == OutputFormat::kJson ? ToJson(options, inspection)
                                                                    : ToText(options, inspection));
  if (const auto& unopened = inspection.missed.unopened; !unopened.empty()) {
    term::Fail("{}", fmt::join(unopened, "\n"));
  }
}

}  // namespace

void AddInspectCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "inspect", "Show the filters and skip indexes of a database or a file",
      kInspectFooter, RunInspect);
  AddFileOptions(command, &options->choice);
  AddFormatOption(command, &options->format);
}

}  // namespace blocksieve::cli
