// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/database/file_text.h"

#include <fmt/ranges.h>

#include <map>
#include <set>
#include <utility>

#include "integration/cli/database/filter_options.h"
#include "integration/cli/term/terminal.h"

namespace blocksieve {

// NOLINTNEXTLINE(readability-identifier-naming): found by name
static void to_json(cli::Json& json, const IndexColumnInfo& column) {
  json = {{"definition", column.definition},
          {"filters", FiltersName(column)},
          {"filter_bytes", column.filter_bytes},
          {"bounds_bytes", column.bounds_bytes}};
}

namespace rocksdb_plugin {
BLOCKSIEVE_TO_JSON(IndexReport, num_granules, num_bytes, place, columns, note, problem)
}  // namespace rocksdb_plugin

namespace cli {
namespace {

// "ribbon", "bloom+ribbon", "legacy bloom"; `origin` tells whose they are.
std::string KindsText(const FilterReport& filter) {
  constexpr std::string_view kStock = "stock ";
  std::set<std::string> names;
  if (filter.has_legacy_blooms) names.insert("legacy bloom");
  for (const FilterKind kind : filter.kinds) {
    const std::string_view name = FilterKindName(kind);
    names.emplace(name.substr(name.starts_with(kStock) ? kStock.size() : 0));
  }
  return fmt::format("{}", fmt::join(names, "+"));
}

Json ToJson(const FilterReport& filter) {
  return {{"origin", rocksdb_plugin::OriginName(filter.origin)},
          {"kind", KindsText(filter)},
          {"shape", filter.shape},
          {"entries", filter.entries},
          {"num_filters", filter.num_filters},
          {"num_keys", filter.num_entries},
          {"num_bytes", filter.num_bytes},
          {"bits_per_key", 8 * Ratio(filter.num_bytes, filter.num_entries)},
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

}  // namespace

std::string FilterName(const Json& filter) {
  const std::string kind = filter["kind"];
  return filter["origin"].get<std::string>() + (kind.empty() ? "" : " " + kind);
}

std::string VanishedText(const TargetFiles& files) {
  std::string text;
  for (const FilePlace& place : files.vanished) {
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

Json DescribeTarget(const Target& target) {
  Json document = {{"engine", "rocksdb"}};
  if (target.path.empty()) {
    document["file"] = target.file;
  } else {
    document["database"] = target.path;
  }
  return document;
}

void AddMissed(const TargetFiles& files, Json* document) {
  (*document)["unopened"] = files.unopened;
  (*document)["vanished"] = ToArray(files.vanished, [](const auto& place) { return place.path; });
}

std::string PartTable(const Json& files, const std::string& one, std::vector<TableColumn> columns,
                      bool with_family) {
  Json rows = Json::array();
  for (const Json& file : files) {
    if (file["filter"]["num_" + one + "_filters"] != 0) rows.push_back(file);
  }
  return rows.empty() ? "" : TableText(std::move(columns), rows, with_family) + "\n";
}

Json TotalToJson(const std::vector<FileReport>& files) {
  FilterSummary sum;
  for (const FileReport& file : files) sum.Add(file);
  return sum;
}

Json LevelsToJson(const std::vector<FileReport>& files) {
  std::map<std::pair<std::string, int>, FilterSummary> levels;
  for (const FileReport& file : files) levels[{file.place.family, file.place.level}].Add(file);
  return ToArray(levels, [](const auto& level) {
    Json row = {{"family", level.first.first}, {"level", LevelOrNull(level.first.second)}};
    row.update(Json(level.second));
    return row;
  });
}

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

Unfiltered FindUnfiltered(const std::vector<FileReport>& files, const Target& target,
                          const std::string& sentence_end, const std::string& command_end) {
  using rocksdb_plugin::FilterState;
  // By family, blocksieve's policy in the newest OPTIONS file that names one; "" for other
  // policies.
  std::map<std::string, std::string> policies;
  const StoredDatabase stored = ReadStored(target);
  for (const OptionsText& file : ReadOptionsFiles(target)) {
    for (const std::string& family : file.Families()) {
      const auto policy = file.Find(OptionsSection::Table(family), "filter_policy");
      if (NamesBlocksieve(policy)) policies[family] = *policy;
    }
  }
  for (const std::string& family : stored.Families()) {
    if (!IsNone(stored.Policy(family))) policies.emplace(family, "");
  }
  for (const FileReport& file : files) {
    if (file.filter.origin == FilterOrigin::kBlocksieve) policies.emplace(file.place.family, "");
  }
  std::map<std::pair<FilterState, std::string>, std::pair<uint64_t, uint64_t>> counts;
  std::map<std::string, std::string> commands;  // that set lost policies, by family
  bool goes_back = false;
  bool is_policy_known = true;
  for (const FileReport& file : files) {
    const std::string& family = file.place.family;
    const rocksdb_plugin::FilterReader& reader = file.place.reader;
    const FilterState state = rocksdb_plugin::JudgeFilter(file);
    if (!rocksdb_plugin::IsUnfiltered(file)) continue;
    if (state == FilterState::kMissing && !policies.contains(family)) continue;
    const std::string text =
        state == FilterState::kMissing
            ? "without filters, written before the policy was set or by a program without the "
              "plug-in"
            : "and " + rocksdb_plugin::StateText(state, reader);
    auto& [num_files, num_keys] = counts[{state, text}];
    ++num_files;
    num_keys += file.num_entries;
    goes_back |= state == FilterState::kNotRead && file.filter.origin == FilterOrigin::kBlocksieve;
    if (reader.is_ours) continue;
    is_policy_known = is_policy_known && !policies[family].empty();
    commands[family] =
        fmt::format("blocksieve apply --db {} --column-family {} --option {}{}", ShellWord(target),
                    ShellWord(family), ShellWord("filter_policy=" + policies[family]), command_end);
  }
  Unfiltered unfiltered;
  if (counts.empty()) return unfiltered;
  for (const auto& [state, count] : counts) {
    unfiltered.text += fmt::format("{} with {} {}.{}", term::CountOf(count.first, "file"),
                                   term::CountOf(count.second, "key"), state.second, sentence_end);
    if (state.first == FilterState::kMissing) unfiltered.files_without_plugin += count.first;
  }
  const std::string closed = " while no process has the database open:" + sentence_end;
  if (is_policy_known || !goes_back) {
    unfiltered.text += "To build filters" + closed;
    for (const auto& [family, command] : commands) {
      if (is_policy_known) unfiltered.text += command;
    }
    unfiltered.text += (is_policy_known ? "blocksieve rewrite --only-unfiltered --db "
                                        : "blocksieve advise --db ") +
                       ShellWord(target) + (goes_back ? sentence_end : "");
  }
  if (goes_back) {
    unfiltered.text +=
        "To go back to stock filters" + closed + "blocksieve revert --db " + ShellWord(target);
  }
  return unfiltered;
}

}  // namespace cli
}  // namespace blocksieve
