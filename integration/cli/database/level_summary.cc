#include "integration/cli/database/level_summary.h"

#include <algorithm>

#include "integration/cli/database/filter_options.h"

namespace blocksieve::cli {

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

std::map<std::pair<std::string, int>, FilterSummary> SummariseLevels(
    const std::vector<FileReport>& files) {
  std::map<std::pair<std::string, int>, FilterSummary> levels;
  for (const FileReport& file : files) levels[{file.place.family, file.place.level}].Add(file);
  return levels;
}

std::map<std::pair<std::string, std::string>, IndexSummary> SummariseIndexes(
    const std::vector<FileReport>& files) {
  std::map<std::pair<std::string, std::string>, IndexSummary> indexes;
  for (const FileReport& file : files) {
    for (const IndexColumnReport& column : file.index.columns) {
      IndexSummary& index = indexes[{file.place.family, column.definition}];
      ++index.num_files;
      index.num_granules += file.index.num_granules;
      index.filters.insert(column.filters);
      index.filter_bytes += column.filter_bytes;
      index.bounds_bytes += column.bounds_bytes;
    }
  }
  return indexes;
}

FilterSummary FilesWithoutPlugin(const std::vector<FileReport>& files,
                                 const std::string& database) {
  const auto is_ours = [](const FileReport& file) {
    return file.filter.origin == FilterOrigin::kBlocksieve;
  };
  FilterSummary sum;
  const std::vector<OptionsFile> options = OptionsFile::All(database);
  const bool options_name_plugin =
      std::any_of(options.begin(), options.end(), HasPolicyOfBlocksieve);
  if (!options_name_plugin && std::none_of(files.begin(), files.end(), is_ours)) return sum;
  for (const FileReport& file : files) {
    const bool has_none = file.filter.origin == FilterOrigin::kNone && file.filter.policy.empty();
    if (has_none && file.num_entries != 0) sum.Add(file);
  }
  return sum;
}

}  // namespace blocksieve::cli
