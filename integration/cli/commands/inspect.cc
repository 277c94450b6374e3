// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "integration/cli/commands/options.h"
#include "integration/rocksdb/maintenance/metrics.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kInspectFooter =
    R"help(Shows the filter of each file, totals by column family and level, and the skip indexes. A filter was
built by blocksieve or by RocksDB itself ("stock"). Another process may have the database open.

  keys           entries of the file: all versions of keys, including deletes
  filters        number of filters: 1, or one per partition; RocksDB before 7.0 also wrote one per
                 group of data blocks ("per granule")
  entries        what the filters have: keys, prefixes, ranges
  covered        share of the keys, or bytes, in files with a readable filter
  bits/key       total size of the filters, or of the part for ranges or prefixes, per entry
  predicted FPR  share of absent keys that pass, by the model of the filter; - if all pass
  range FPR      share of short empty ranges that pass, as the filter estimated it when it was built
  prefix FPR     share of absent prefixes that pass, by the model; boundaries as in option prefixes

Listed, too: the number of files that a process without the plug-in, such as ldb compact, wrote
without filters (blocksieve-preload ldb loads the plug-in), and of those whose filters the policy in
OPTIONS does not read.

--fail-if makes the exit code 1 if files with keys have no filter that this policy reads (without-
filter), unless it gave them none. --format prometheus prints metrics.

Examples:
  blocksieve inspect --db paths.db
  blocksieve inspect paths.db/000012.sst
  blocksieve inspect --db paths.db --format prometheus --fail-if without-filter
  blocksieve inspect --db paths.db --format json | jq '.files[] | select(.filter.origin == "none")')help";

struct InspectOptions : TargetOptions {
  std::vector<std::string> fail_if;
};

// Conditions of --fail-if.
constexpr const char* kConditions = "without-filter";

// Of two members; "-" of 0.
CellText FormatShare(const char* part, const char* whole) {
  return [part, whole](const Json& row) {
    return row[whole] == 0 ? "-" : ShareText(Ratio(row[part], row[whole]));
  };
}

std::string IndexesText(const Json& indexes, bool with_family) {
  if (indexes.empty()) return "No skip indexes.\n";
  return TableText({{"skip index", "/definition", PlainText},
                    {"files", "/num_files", CountText},
                    {"granules", "/num_granules", CountText},
                    {"filters", "/filters",
                     [](const Json& forms) {
                       return fmt::format("{}",
                                          fmt::join(forms.get<std::set<std::string>>(), " + "));
                     }},
                    {"filter bytes", "/filter_bytes", CountText},
                    {"bounds bytes", "/bounds_bytes", CountText}},
                   indexes, with_family);
}

std::string LevelsText(const Json& document, bool with_family) {
  Json rows = document["levels"];
  if (rows.size() > 1) {
    rows.push_back({{"family", "all"}, {"level", "all"}});
    rows.back().update(document["total"]);
  }
  return TableText({{"level", "/level", PlainText},
                    {"files", "/num_files", CountText},
                    {"keys", "/num_keys", CountText},
                    {"bytes", "/num_bytes", CountText},
                    {"keys covered", "", FormatShare("covered_keys", "num_keys")},
                    {"bytes covered", "", FormatShare("covered_bytes", "num_bytes")},
                    {"filter bytes", "/filter_bytes", CountText},
                    {"bits/key", "/bits_per_key", BitsPerKeyText},
                    {"predicted FPR", "/predicted_fpr", RateText}},
                   rows, with_family);
}

std::string FilesText(const Json& files, bool with_family) {
  return TableText({{"file", "/path", FileNameText},
                    {"level", "/level", PlainText},
                    {"keys", "/num_keys", CountText},
                    {"bytes", "/num_bytes", CountText},
                    {"filter", "/filter", FilterName},
                    {"filters", "/filter/num_filters", CountText},
                    {"entries", "/filter/entries", PlainText},
                    {"bits/key", "/filter/bits_per_key", BitsPerKeyText},
                    {"predicted FPR", "/filter/predicted_fpr", RateText},
                    {"index bytes", "/index/num_bytes", CountText}},
                   files, with_family);
}

// Range filters or prefixes, if a file has them. `one`: "range" or "prefix".
std::string PartText(const Json& files, bool with_family, const std::string& one, const char* title,
                     const char* fpr, std::vector<TableColumn> more) {
  std::vector<TableColumn> columns = {
      {title, "/path", FileNameText},
      {"level", "/level", PlainText},
      {"filters", "/filter/num_" + one + "_filters", CountText},
      {"bytes", "/filter/" + one + "_bytes", CountText},
      {one + " bits/key", "/filter",
       [bytes = one + "_bytes"](const Json& filter) {
         return BitsPerKeyText(8 * Ratio(filter[bytes], filter["num_keys"]));
       }},
      {fpr, "/filter/" + one + "_fpr", RateText}};
  columns.insert(columns.end(), more.begin(), more.end());
  return PartTable(files, one, std::move(columns), with_family);
}

std::string ToText(const Json& document, const Unfiltered& unfiltered, const TargetFiles& read) {
  const Json& files = document["files"];
  if (files.empty()) {
    return read.unopened.empty() ? "No files: nothing has been flushed yet.\n" : "";
  }
  const bool with_family = std::any_of(files.begin(), files.end(), [&](const Json& file) {
    return file["family"] != files.front()["family"];
  });
  std::string text;
  if (files.size() > 1) text = LevelsText(document, with_family) + "\n";
  text += FilesText(files, with_family) + "\n" +
          PartText(files, with_family, "range", "range filters", "estimated range FPR", {}) +
          PartText(files, with_family, "prefix", "prefixes", "predicted prefix FPR",
                   {{"distinct", "/filter/num_prefixes", CountText},
                    {"boundaries", "/filter/prefix_rules", PlainText}}) +
          IndexesText(document["skip_indexes"], with_family);
  if (!unfiltered.text.empty()) text += "\n" + unfiltered.text + "\n";
  const std::string notes =
      NotesText(files, {"/filter/problems", "/filter/note", "/index/problem", "/index/note"}) +
      VanishedText(read);
  return text + (notes.empty() ? "" : "\n" + notes);
}

struct FilterSummary {
  uint64_t num_files = 0;
  uint64_t num_keys = 0;
  uint64_t num_bytes = 0;
  uint64_t covered_keys = 0;  // in files with a readable filter
  uint64_t covered_bytes = 0;
  uint64_t filter_keys = 0;
  uint64_t filter_bytes = 0;
  double bits_per_key = 0;
  double predicted_fpr = 1;  // the mean over all keys

  void Add(const FileReport& file) {
    const FilterReport& filter = file.filter;
    ++num_files;
    num_bytes += file.num_bytes;
    if (rocksdb_plugin::JudgeFilter(file) == rocksdb_plugin::FilterState::kWorks) {
      covered_keys += file.num_entries;
      covered_bytes += file.num_bytes;
    }
    filter_keys += filter.num_entries;
    filter_bytes += filter.num_bytes;
    bits_per_key = 8 * Ratio(filter_bytes, filter_keys);
    num_keys += file.num_entries;
    predicted_fpr += (file.fpr() - predicted_fpr) * Ratio(file.num_entries, num_keys);
  }
};
BLOCKSIEVE_TO_JSON(FilterSummary, num_files, num_keys, num_bytes, covered_keys, covered_bytes,
                   filter_bytes, bits_per_key, predicted_fpr)

// The totals of each column family and skip index, as an array.
Json IndexesToJson(const std::vector<FileReport>& files) {
  std::map<std::pair<std::string, std::string>, Json> indexes;
  for (const FileReport& file : files) {
    for (const IndexColumnInfo& column : file.index.columns) {
      Json& index = indexes[{file.place.family, column.definition}];
      index["family"] = file.place.family;
      index["definition"] = column.definition;
      const auto add = [&index](const char* name, uint64_t number) {
        index[name] = index.value(name, uint64_t{0}) + number;
      };
      add("num_files", 1);
      add("num_granules", file.index.num_granules);
      add("filter_bytes", column.filter_bytes);
      add("bounds_bytes", column.bounds_bytes);
      auto filters = index.value("filters", std::set<std::string>());
      filters.emplace(FiltersName(column));
      index["filters"] = filters;
    }
  }
  return ToArray(indexes, [](const auto& index) { return index.second; });
}

Json Describe(const Target& target, const std::vector<FileReport>& files,
              const Unfiltered& unfiltered) {
  FilterSummary total;
  std::map<std::pair<std::string, int>, FilterSummary> levels;
  for (const FileReport& file : files) {
    total.Add(file);
    levels[{file.place.family, file.place.level}].Add(file);
  }
  Json document = DescribeTarget(target);
  document["total"] = total;
  document["files_without_plugin"] = unfiltered.files_without_plugin;
  document["levels"] = ToArray(levels, [](const auto& level) {
    Json row = {{"family", level.first.first}, {"level", LevelOrNull(level.first.second)}};
    row.update(Json(level.second));
    return row;
  });
  document["files"] = ToArray(files, [](const FileReport& file) { return cli::ToJson(file); });
  document["skip_indexes"] = IndexesToJson(files);
  return document;
}

void RunInspect(const InspectOptions& options) {
  const Target& target = options.target;
  TargetFiles read = FindFiles(target);
  const std::vector<FileReport> files = read.ReadReports("inspecting");
  const Unfiltered unfiltered =
      target.path.empty() ? Unfiltered() : FindUnfiltered(files, target, "\n", "\n");
  Json document = Describe(target, files, unfiltered);
  AddMissed(read, &document);
  if (options.format == "prometheus") {
    std::vector<FilterMetric> metrics;
    rocksdb_plugin::AddFiles(files, /*with_rates=*/true, &metrics);
    if (!target.path.empty()) rocksdb_plugin::LabelDatabase(target.path, &metrics);
    term::WriteToStandardOutput(FilterMetricsText(metrics));
  } else {
    WriteReport(options.format, document, ToText(document, unfiltered, read));
  }
  read.FailIfUnopened();
  const auto count = std::count_if(files.begin(), files.end(), rocksdb_plugin::IsUnfiltered);
  if (options.fail_if.empty() || count == 0) return;
  term::Fail("{} without a working filter", term::CountOf(static_cast<uint64_t>(count), "file"));
}

}  // namespace

void AddInspectCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "inspect", "Show the filters and skip indexes of a database or a file",
      kInspectFooter, RunInspect);
  AddTargetOptions(command, options, Subject::kDatabaseOrFile, "text|json|prometheus");
  AddOption(command, &options->fail_if, std::string("--fail-if ") + kConditions,
            "make the exit code 1 if a file has no working filter", OneOf(kConditions));
}

}  // namespace blocksieve::cli
