#include "integration/cli/database/file_text.h"

#include <fmt/ranges.h>

#include <map>
#include <set>
#include <utility>

#include "integration/cli/database/filter_options.h"
#include "integration/cli/term/terminal.h"

namespace blocksieve {

namespace rocksdb_plugin {
BLOCKSIEVE_TO_JSON(IndexColumnReport, definition, filters, filter_bytes, bounds_bytes)
BLOCKSIEVE_TO_JSON(IndexReport, num_granules, num_bytes, place, columns, note, problem)
}  // namespace rocksdb_plugin

namespace cli {
namespace {

Json ToJson(const FilterReport& filter) {
  return {{"origin", rocksdb_plugin::NameOf(filter.origin)},
          {"kind", filter.kind},
          {"shape", filter.shape},
          {"entries", filter.entries},
          {"num_filters", filter.num_filters},
          {"num_keys", filter.num_entries},
          {"num_bytes", filter.num_bytes},
          {"bits_per_key", 8 * term::Ratio(filter.num_bytes, filter.num_entries)},
          {"predicted_fpr", filter.predicted_fpr},
          {"num_range_filters", filter.ranges.num_filters},
          {"range_bytes", filter.ranges.num_bytes},
          {"range_fpr", filter.ranges.fpr},
          {"num_prefix_filters", filter.prefixes.num_filters},
          {"prefix_bytes", filter.prefixes.num_bytes},
          {"prefix_fpr", filter.prefixes.fpr},
          {"prefix_rules", filter.prefix_rules},
          {"num_prefixes", filter.num_prefixes},
          {"note", filter.note},
          {"problems", filter.problems}};
}

// Null if it is unknown.
Json LevelOrNull(int level) { return level < 0 ? Json(nullptr) : Json(level); }

struct FilterSummary {
  uint64_t num_files = 0;
  FileReport sum = {};           // its filter has the entries and bytes of all filters
  uint64_t covered_entries = 0;  // in files with a readable filter
  uint64_t covered_bytes = 0;
  double weighted_fpr = 0;  // times entries

  void Add(const FileReport& file) {
    const FilterReport& filter = file.filter;
    const bool is_covered =
        filter.origin == FilterOrigin::kBlocksieve || filter.origin == FilterOrigin::kStock;
    ++num_files;
    sum.num_entries += file.num_entries;
    sum.num_bytes += file.num_bytes;
    sum.filter.num_entries += filter.num_entries;
    sum.filter.num_bytes += filter.num_bytes;
    covered_entries += is_covered ? file.num_entries : 0;
    covered_bytes += is_covered ? file.num_bytes : 0;
    weighted_fpr += filter.predicted_fpr * static_cast<double>(file.num_entries);
  }

  Json ToJson() const {
    const auto entries = static_cast<double>(sum.num_entries);
    return {{"num_files", num_files},
            {"num_keys", sum.num_entries},
            {"num_bytes", sum.num_bytes},
            {"covered_keys", covered_entries},
            {"covered_bytes", covered_bytes},
            {"filter_bytes", sum.filter.num_bytes},
            {"bits_per_key", 8 * term::Ratio(sum.filter.num_bytes, sum.filter.num_entries)},
            {"predicted_fpr", sum.num_entries == 0 ? 1 : weighted_fpr / entries}};
  }
};

}  // namespace

std::string FilterName(const Json& filter) {
  const std::string kind = filter["kind"];
  return filter["origin"].get<std::string>() + (kind.empty() ? "" : " " + kind);
}

std::string VanishedText(const ChosenFiles::Missed& missed) {
  std::string text;
  for (const FilePlace& place : missed.vanished) {
    text += FileNameText(place.path) + ": removed by another process meanwhile\n";
  }
  return text;
}

Json ToJson(const FileReport& file) {
  return {{"path", file.place.path},
          {"family", file.place.family},
          {"level", LevelOrNull(file.place.level)},
          {"num_keys", file.num_entries},
          {"num_bytes", file.num_bytes},
          {"filter", ToJson(file.filter)},
          {"index", file.index}};
}

Json DescribeChoice(const FileChoice& choice) {
  Json document = {{"engine", "rocksdb"}};
  if (choice.db.path.empty()) {
    document["file"] = choice.file;
  } else {
    document["database"] = choice.db.path;
  }
  return document;
}

void AddMissed(const ChosenFiles::Missed& missed, Json* document) {
  (*document)["unopened"] = missed.unopened;
  (*document)["vanished"] = ArrayOf(missed.vanished, [](const auto& place) { return place.path; });
}

Json FilesWithPart(const Json& files, const std::string& one) {
  return RowsWhere(files, [member = "num_" + one + "_filters"](const Json& file) {
    return file["filter"][member] != 0;
  });
}

Json TotalOf(const std::vector<FileReport>& files) {
  FilterSummary sum;
  for (const FileReport& file : files) sum.Add(file);
  return sum.ToJson();
}

Json LevelsOf(const std::vector<FileReport>& files) {
  std::map<std::pair<std::string, int>, FilterSummary> levels;
  for (const FileReport& file : files) levels[{file.place.family, file.place.level}].Add(file);
  Json rows = Json::array();
  for (const auto& [place, sum] : levels) {
    rows.push_back({{"family", place.first}, {"level", LevelOrNull(place.second)}});
    rows.back().update(sum.ToJson());
  }
  return rows;
}

Json IndexesOf(const std::vector<FileReport>& files) {
  struct Sum {
    uint64_t num_files = 0;
    uint64_t num_granules = 0;
    std::set<std::string> filters;  // forms; see GranuleFiltersName
    uint64_t filter_bytes = 0;
    uint64_t bounds_bytes = 0;
  };
  std::map<std::pair<std::string, std::string>, Sum> indexes;
  for (const FileReport& file : files) {
    for (const IndexColumnReport& column : file.index.columns) {
      Sum& index = indexes[{file.place.family, column.definition}];
      ++index.num_files;
      index.num_granules += file.index.num_granules;
      index.filters.insert(column.filters);
      index.filter_bytes += column.filter_bytes;
      index.bounds_bytes += column.bounds_bytes;
    }
  }
  Json rows = Json::array();
  for (const auto& [name, index] : indexes) {
    rows.push_back({{"family", name.first},
                    {"definition", name.second},
                    {"num_files", index.num_files},
                    {"num_granules", index.num_granules},
                    {"filters", index.filters},
                    {"filter_bytes", index.filter_bytes},
                    {"bounds_bytes", index.bounds_bytes}});
  }
  return rows;
}

WithoutFilters FilesWithoutFilters(const std::vector<FileReport>& files,
                                   const DatabasePlace& database) {
  // By family, blocksieve's policy in the newest OPTIONS file that names one; "" for other
  // policies.
  std::map<std::string, std::string> policies;
  const StoredDatabase stored = ReadStored(database);
  for (const std::string& name : OptionsFileNames(database)) {
    const OptionsText file = ReadOptionsText(database.path + "/" + name);
    for (const std::string& family : file.Families()) {
      const auto policy = file.Find(OptionsSection::Table(family), "filter_policy");
      if (NamesBlocksieve(policy.value_or(""))) policies[family] = *policy;
    }
  }
  for (const std::string& family : stored.Families()) {
    if (!IsNone(stored.Policy(family))) policies.emplace(family, "");
  }
  for (const FileReport& file : files) {
    if (file.filter.origin == FilterOrigin::kBlocksieve) policies.emplace(file.place.family, "");
  }
  WithoutFilters without;
  std::set<std::string> families;
  for (const FileReport& file : files) {
    const std::string& family = file.place.family;
    if (file.filter.origin != FilterOrigin::kNone || file.num_entries == 0) continue;
    if (!policies.contains(family)) continue;
    // A policy that the file names built none on purpose: ours by level, RocksDB's in the last
    // level under this option. bloomfilter:0 never builds one.
    const auto* const options = stored.Find(family);
    const bool spares_files = NamesBlocksieve(stored.Policy(family)) || options == nullptr ||
                              options->optimize_filters_for_hits || !policies[family].empty();
    if (!file.filter.policy.empty() && spares_files) continue;
    ++without.num_files;
    without.num_entries += file.num_entries;
    families.insert(family);
  }
  const std::string db = ShellWord(database);
  for (const std::string& family : families) {
    if (NamesBlocksieve(stored.Policy(family))) continue;
    if (policies[family].empty()) {
      without.commands = {"blocksieve advise --db " + db};
      return without;
    }
    without.commands.push_back(
        fmt::format("blocksieve apply --db {} --column-family {} --option {}", db,
                    ShellWord(family), ShellWord("filter_policy=" + policies[family])));
  }
  without.commands.push_back(fmt::format("blocksieve rewrite --db {} --only-unfiltered", db));
  return without;
}

std::string WithoutFilters::ToText(std::string_view sentence_end,
                                   std::string_view command_end) const {
  return fmt::format(
      "{} with {} without filters, written before the policy was set or by a program without the "
      "plug-in.{}To build filters while no process has the database open:{}{}",
      term::CountOf(num_files, "file"), term::CountOf(num_entries, "key"), sentence_end,
      sentence_end, fmt::join(commands, command_end));
}

}  // namespace cli
}  // namespace blocksieve
