#include "integration/cli/database/level_summary.h"

#include <map>
#include <utility>

namespace blocksieve::cli {
namespace {

template <typename Map>
std::vector<typename Map::mapped_type> ValuesOf(Map map) {
  std::vector<typename Map::mapped_type> values;
  values.reserve(map.size());
  for (auto& [key, value] : map) values.push_back(std::move(value));
  return values;
}

}  // namespace

void FilterSummary::Add(const FileReport& file) {
  const FilterReport& filter = file.filter;
  ++num_files;
  num_entries += file.num_entries;
  num_bytes += file.num_bytes;
  if (filter.origin == FilterOrigin::kBlocksieve || filter.origin == FilterOrigin::kStock) {
    covered_entries += file.num_entries;
    covered_bytes += file.num_bytes;
  }
  filter_entries += filter.num_entries;
  filter_bytes += filter.num_bytes;
  weighted_fpr += filter.predicted_fpr * static_cast<double>(file.num_entries);
}

std::vector<LevelSummary> SummariseLevels(const std::vector<FileReport>& files) {
  std::map<std::pair<std::string, int>, LevelSummary> levels;
  for (const FileReport& file : files) {
    LevelSummary& level = levels[{file.place.family, file.place.level}];
    level.family = file.place.family;
    level.level = file.place.level;
    level.Add(file);
  }
  return ValuesOf(std::move(levels));
}

std::vector<IndexSummary> SummariseIndexes(const std::vector<FileReport>& files) {
  std::map<std::pair<std::string, std::string>, IndexSummary> indexes;
  for (const FileReport& file : files) {
    for (const IndexColumnReport& column : file.index.columns) {
      IndexSummary& index = indexes[{file.place.family, column.definition}];
      index.family = file.place.family;
      index.definition = column.definition;
      ++index.num_files;
      index.num_granules += file.index.num_granules;
      index.filters.insert(column.filters);
      index.filter_bytes += column.filter_bytes;
      index.bounds_bytes += column.bounds_bytes;
    }
  }
  return ValuesOf(std::move(indexes));
}

}  // namespace blocksieve::cli
