// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/database/report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "integration/cli/database/filter_options.h"

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

using Cells = std::vector<std::string>;

// The first column is left-aligned, the others right-aligned.
std::string Align(const std::vector<Cells>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const Cells& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Cells& row : rows) {
    std::string line = fmt::format("{:<{}}", row[0], widths[0]);
    for (size_t i = 1; i < row.size(); ++i) line += fmt::format("  {:>{}}", row[i], widths[i]);
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

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

}  // namespace

std::string PlainText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& each : value) text += (text.empty() ? "" : " ") + PlainText(each);
  return text;
}

std::string CountText(const Json& value) {
  const auto number = value.get<int64_t>();
  return (number < 0 ? "-" : "") + term::WithCommas(static_cast<uint64_t>(std::abs(number)));
}

std::string FileNameText(const Json& value) {
  const std::string path = value;
  return path.substr(path.rfind('/') + 1);
}

std::string RateText(const Json& value) { return value >= 1 ? "-" : term::NumberText(value, 4); }

std::string ReadsText(const Json& value) { return term::NumberText(value); }

std::string BitsPerKeyText(const Json& value) {
  return value == 0 ? "-" : fmt::format("{:.2f}", value.get<double>());
}

std::string ShareText(const Json& value) {
  return fmt::format("{:.1f} %", 100 * value.get<double>());
}

std::string TableText(std::vector<TableColumn> columns, const Json& rows, bool with_family) {
  if (with_family) columns.insert(columns.begin(), {"family", "/family", PlainText});
  std::vector<Cells> lines(1);
  for (const TableColumn& column : columns) lines[0].push_back(column.header);
  for (const Json& row : rows) {
    Cells& cells = lines.emplace_back();
    for (const TableColumn& column : columns) {
      const Json& value = row.at(Json::json_pointer(column.member));
      cells.push_back(value.is_null() ? "-" : column.text(value));
    }
  }
  return Align(lines);
}

std::string FilterName(const Json& filter) {
  const std::string kind = filter["kind"];
  return filter["origin"].get<std::string>() + (kind.empty() ? "" : " " + kind);
}

std::string NotesText(const Json& files, std::initializer_list<const char*> members,
                      const std::string& prefix) {
  std::string text;
  for (const Json& file : files) {
    for (const char* const member : members) {
      const Json& notes = file.at(Json::json_pointer(member));
      for (const Json& note : notes.is_array() ? notes : Json::array({notes})) {
        if (note != "") text += prefix + FileNameText(file["path"]) + ": " + PlainText(note) + "\n";
      }
    }
  }
  return text;
}

std::string VanishedText(const TargetFiles& files) {
  std::string text;
  for (const FilePlace& place : files.vanished) {
    text += FileNameText(place.path) + ": removed by another process meanwhile\n";
  }
  return text;
}

Json LevelOrNull(int level) { return level < 0 ? Json(nullptr) : Json(level); }

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

Unfiltered FindUnfiltered(const std::vector<FileReport>& files, const Target& target,
                          const std::string& sentence_end, const std::string& command_end) {
  using rocksdb_plugin::FilterState;
  // By family, the policy of blocksieve that OPTIONS files name; "" for other policies.
  std::map<std::string, std::string> policies;
  for (const std::string& family : ReadStored(target).Families()) {
    const auto named = rocksdb_plugin::FindNamedPolicy(rocksdb::Env::Default(), target, family);
    if (named) policies[family] = NamesBlocksieve(named->first) ? named->first : "";
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
