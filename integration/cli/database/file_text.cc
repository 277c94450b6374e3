#include "integration/cli/database/file_text.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view OriginName(FilterOrigin origin) {
  constexpr std::string_view kNames[] = {"none", "blocksieve", "stock", "unknown", "unreadable"};
  return kNames[static_cast<size_t>(origin)];
}

Json ToJson(const FilterReport& filter) {
  return {{"origin", OriginName(filter.origin)},
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

Json ToJson(const IndexReport& index) {
  Json columns = Json::array();
  for (const IndexColumnReport& column : index.columns) {
    columns.push_back({{"definition", column.definition},
                       {"filters", column.filters},
                       {"filter_bytes", column.filter_bytes},
                       {"bounds_bytes", column.bounds_bytes}});
  }
  return {{"num_granules", index.num_granules},
          {"num_bytes", index.num_bytes},
          {"place", index.place},
          {"columns", columns},
          {"note", index.note},
          {"problem", index.problem}};
}

}  // namespace

std::string FilterName(const Json& filter) {
  const std::string kind = filter["kind"];
  return filter["origin"].get<std::string>() + (kind.empty() ? "" : " " + kind);
}

Json LevelOrNull(int level) { return level < 0 ? Json(nullptr) : Json(level); }

std::string VanishedText(const ChosenFiles::Missed& missed) {
  std::string text;
  for (const FilePlace& place : missed.vanished) {
    text += ShortName(place) + ": removed by another process meanwhile\n";
  }
  return text;
}

std::string ShortName(const FilePlace& place) {
  return std::filesystem::path(place.path).filename();
}

Json ToJson(const FileReport& file) {
  return {{"path", file.place.path},
          {"family", file.place.family},
          {"level", LevelOrNull(file.place.level)},
          {"num_keys", file.num_entries},
          {"num_bytes", file.num_bytes},
          {"filter", ToJson(file.filter)},
          {"index", ToJson(file.index)}};
}

Json DescribeChoice(const FileChoice& choice) {
  Json document = {{"engine", "rocksdb"}};
  if (choice.db.empty()) {
    document["file"] = choice.file;
  } else {
    document["database"] = choice.db;
  }
  return document;
}

void AddMissed(const ChosenFiles::Missed& missed, Json* document) {
  (*document)["unopened"] = missed.unopened;
  Json& vanished = (*document)["vanished"] = Json::array();
  for (const FilePlace& place : missed.vanished) vanished.push_back(place.path);
}

}  // namespace blocksieve::cli
