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
          {"num_entries", filter.num_entries},
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

std::string FilterName(const FilterReport& filter) {
  const std::string origin(OriginName(filter.origin));
  return filter.kind.empty() ? origin : origin + " " + filter.kind;
}

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

std::string LevelText(int level) { return level < 0 ? "-" : std::to_string(level); }

std::string BitsText(uint64_t num_bytes, uint64_t num_entries) {
  const double bits = 8 * term::Ratio(num_bytes, num_entries);
  return bits == 0 ? "-" : fmt::format("{:.2f}", bits);
}

std::string RateText(double rate) { return rate >= 1 ? "-" : fmt::format("{:.4g}", rate); }

std::string ShareText(uint64_t part, uint64_t all) {
  if (all == 0) return "-";
  return fmt::format("{:.1f} %", 100 * term::Ratio(part, all));
}

Json ToJson(const FileReport& file) {
  Json document = {{"path", file.place.path}, {"family", file.place.family}};
  document["level"] = file.place.level < 0 ? Json(nullptr) : Json(file.place.level);
  document["num_entries"] = file.num_entries;
  document["num_bytes"] = file.num_bytes;
  document["filter"] = ToJson(file.filter);
  document["index"] = ToJson(file.index);
  return document;
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
