// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/maintenance/file_report.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Without properties, only the blocks tell the number of entries.
constexpr uint64_t kGuessedEntryBytes = 64;

std::optional<FilterKind> ToKind(const FilterReport& filter) {
  const std::string kind = (filter.origin == FilterOrigin::kStock ? "stock " : "") + filter.kind;
  std::vector<FilterKind> kinds = AllFilterKinds();
  kinds.insert(kinds.end(), {FilterKind::kStockBloom, FilterKind::kStockRibbon});
  const auto found = std::ranges::find(kinds, kind, FilterKindName);
  return found == kinds.end() ? std::nullopt : std::optional(*found);
}

TreeFile ToTreeFile(const FileReport& file, size_t id) {
  const FilterReport& filter = file.filter;
  TreeFile described{.level = file.place.level,
                     .num_keys = FilterKeys(file),
                     .num_bytes = file.num_bytes,
                     .has_filter = filter.origin != FilterOrigin::kNone,
                     .kind = ToKind(filter),
                     .fpr = filter.predicted_fpr,
                     .filter_bytes = filter.point_bytes(),
                     .num_filters = filter.num_filters,
                     .num_prefix_hashes = filter.num_prefix_hashes,
                     .id = id};
  if (file.place.keys) std::tie(described.smallest, described.largest) = *file.place.keys;
  return described;
}

}  // namespace

rocksdb::Status ReadLiveFiles(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                              bool reads_filters, std::vector<FileReport>* reports) {
  rocksdb::TablePropertiesCollection properties;
  rocksdb::Status status = ReadTableProperties(db, column_family, &properties);
  if (!status.ok()) return status;
  const rocksdb::Options options = db->GetOptions(column_family);
  const bool stays_on_level0 = options.compaction_style == rocksdb::kCompactionStyleFIFO;
  const bool may_have_index = FindBlockIndexOptions(options).has_value();
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(column_family, &metadata);
  std::map<std::string, FileReport> known;  // by path: files do not change
  for (FileReport& report : *reports) known[report.place.path] = std::move(report);
  reports->clear();
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      const auto found = properties.find(file.db_path + file.name);  // which begins with a slash
      if (found == properties.end()) continue;
      const rocksdb::TableProperties& table = *found->second;
      const std::string path = PathOfTable(found->first, db->GetEnv()->GetFileSystem().get());
      const uint64_t num_entries = LacksProperties(table)
                                       ? file.size / kGuessedEntryBytes + 1
                                       : table.num_entries - table.num_range_deletions;
      FileReport report;
      FilterReport& filter = report.filter;
      if (!reads_filters) {
        filter.policy = table.filter_policy_name;
        filter.num_bytes = table.filter_size;
        const bool is_ours = filter.policy == Policy::kName;
        if (filter.num_bytes != 0)
          filter.origin = is_ours ? FilterOrigin::kBlocksieve : FilterOrigin::kStock;
      } else if (const auto found_before = known.find(path); found_before != known.end()) {
        report = std::move(found_before->second);
      } else {
        status = ReadFilters(db->GetEnv(), path, table, may_have_index, &report);
        if (!status.ok()) continue;  // compacted away
      }
      report.place = {.path = path,
                      .family = metadata.name,
                      .level = level.level,
                      .is_short_lived = level.level == 0 && !stays_on_level0,
                      .keys = {{file.smallestkey, file.largestkey}}};
      report.num_entries = num_entries;
      report.num_bytes = file.size;
      reports->push_back(std::move(report));
    }
  }
  return rocksdb::Status::OK();
}

uint64_t FilterKeys(const FileReport& file) {
  const bool is_readable =
      file.filter.origin == FilterOrigin::kBlocksieve || file.filter.origin == FilterOrigin::kStock;
  return is_readable && file.filter.problems.empty() ? file.filter.num_entries : file.num_entries;
}

std::vector<Tree> BuildTrees(const std::vector<FileReport>& files) {
  std::map<std::string, std::vector<TreeFile>> families;
  for (size_t i = 0; i < files.size(); ++i) {
    families[files[i].place.family].push_back(ToTreeFile(files[i], i));
  }
  std::vector<Tree> trees;
  for (auto& [family, its_files] : families) {
    std::ranges::stable_sort(its_files, {}, &TreeFile::level);
    const FilePlace& first = files[its_files.front().id].place;
    const bool have_ranges = std::ranges::all_of(
        its_files, [&](const TreeFile& file) { return files[file.id].place.keys.has_value(); });
    Tree& tree =
        trees.emplace_back(std::move(its_files), family,
                           /*level0_is_short_lived=*/first.level != 0 || first.is_short_lived);
    if (have_ranges) tree.SetKeyRanges();
  }
  return trees;
}

bool IsUnfiltered(const FileReport& file) {
  const FilterReport& filter = file.filter;
  if (file.num_entries == 0 || filter.origin == FilterOrigin::kBlocksieve) return false;
  if (filter.origin == FilterOrigin::kNone) return filter.policy != Policy::kName;
  return filter.origin != FilterOrigin::kStock;
}

}  // namespace blocksieve::rocksdb_plugin
