#include "integration/rocksdb/maintenance/file_report.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace blocksieve::rocksdb_plugin {
namespace {

std::optional<FilterKind> KindOf(const FilterReport& filter) {
  const std::string kind = (filter.origin == FilterOrigin::kStock ? "stock " : "") + filter.kind;
  for (const FilterKind known : {FilterKind::kBlockedBloom, FilterKind::kRibbon,
                                 FilterKind::kStockBloom, FilterKind::kStockRibbon}) {
    if (kind == FilterKindName(known)) return known;
  }
  return std::nullopt;
}

TreeFile TreeFileOf(const FileReport& file, size_t id) {
  const FilterReport& filter = file.filter;
  TreeFile described{.level = file.place.level,
                     .num_keys = FilterKeys(file),
                     .num_bytes = file.num_bytes,
                     .has_filter = filter.origin != FilterOrigin::kNone,
                     .kind = KindOf(filter),
                     .fpr = filter.predicted_fpr,
                     .filter_bytes = filter.point_bytes(),
                     .num_filters = filter.num_filters,
                     .num_prefix_hashes = filter.num_prefix_hashes,
                     .id = id};
  if (file.place.keys) std::tie(described.smallest, described.largest) = *file.place.keys;
  return described;
}

}  // namespace

uint64_t FilterKeys(const FileReport& file) {
  const bool is_readable =
      file.filter.origin == FilterOrigin::kBlocksieve || file.filter.origin == FilterOrigin::kStock;
  return is_readable && file.filter.problems.empty() ? file.filter.num_entries : file.num_entries;
}

std::vector<Tree> TreesOf(const std::vector<FileReport>& files) {
  std::map<std::string, std::vector<TreeFile>> families;
  for (size_t i = 0; i < files.size(); ++i) {
    families[files[i].place.family].push_back(TreeFileOf(files[i], i));
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

}  // namespace blocksieve::rocksdb_plugin
